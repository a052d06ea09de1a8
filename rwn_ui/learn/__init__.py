"""The Learn page: lessons on disclosure, masking and its price, and notes on the papers."""
