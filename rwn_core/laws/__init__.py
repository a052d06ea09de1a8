"""Exact laws: the probability of each released value, and of each donor."""
