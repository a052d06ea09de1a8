"""The Learn page: six lessons on why masking works and where it breaks."""
