"""Measures on releases: what one audit, many draws or the closed forms say of a setting."""
