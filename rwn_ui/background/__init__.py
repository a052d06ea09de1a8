"""Work that goes on while a page is in use."""
