"""Randomization within neighborhoods: mask microdata, and see what it costs and protects."""
