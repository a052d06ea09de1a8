"""Charts of papers that are run again."""
