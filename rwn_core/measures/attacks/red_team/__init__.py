"""Simple attacks on releases: merges, nearest rows, regressions; they share no code with laws."""
