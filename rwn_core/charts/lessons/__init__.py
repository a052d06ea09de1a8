"""Charts of the lessons, one per file."""
