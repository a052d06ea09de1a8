"""States the version of the program, once."""

__version__ = "0.1.0"
