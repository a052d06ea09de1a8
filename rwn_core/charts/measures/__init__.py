"""Charts of readings, one per file."""
