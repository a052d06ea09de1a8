"""Random candidates for neighbors: Methods 1 to 3 of the paper for large tables."""
