"""The Learn page: lessons and notes on the papers; and the Paper page with its figures."""
