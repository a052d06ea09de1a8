"""States the version of the program, once."""

__version__ = "0.2.0"
