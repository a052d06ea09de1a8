"""Risk: what the release discloses."""
