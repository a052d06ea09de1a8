"""Compiled functions of the search, the distances and the draws."""
