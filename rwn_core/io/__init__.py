"""Files in and out: one file a format, and what decides between them."""
