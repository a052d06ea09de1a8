"""A table: its variables, its schema, its checked values and what names it."""
