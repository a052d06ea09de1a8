"""The Utility page."""
