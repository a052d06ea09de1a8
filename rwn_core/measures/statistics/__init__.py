"""Statistics that several measures share, one idea per file."""
