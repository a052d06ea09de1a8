"""The Learn page: seven lessons on why masking works and where it breaks."""
