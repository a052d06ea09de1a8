"""Texts of a file become typed columns."""
