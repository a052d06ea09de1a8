"""Risk: what the release gives away."""
