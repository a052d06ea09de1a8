"""Charts of the lessons, a file a lesson."""
