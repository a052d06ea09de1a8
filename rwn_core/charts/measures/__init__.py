"""Charts of what a measure read: one a file."""
