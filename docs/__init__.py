"""Documentation for users, and what writes its reference."""
