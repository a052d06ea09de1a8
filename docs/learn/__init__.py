"""Lessons that run in a browser without any server: one file, made by ``python -m docs.site``."""
