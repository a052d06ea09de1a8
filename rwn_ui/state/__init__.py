"""A user's choices, and what is derived from them."""
