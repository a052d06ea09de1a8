"""The table of a small file by the search, which other small files do without."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors import NeighborTable, Radius, neighbor_table
from rwn_core.neighbors.index import build_index


def searched_table(points: np.ndarray, *, k: int | None, epsilon: Radius | None) -> NeighborTable:
    """Every record's others, by leaves of an index instead of all pairs."""
    index = build_index(points, epsilon=epsilon)
    return neighbor_table(points, k=k, epsilon=epsilon, index=index)
