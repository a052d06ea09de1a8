"""All pairs at once: the neighbor table of a small file."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors.distance import rank, squared_distances
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.table import NeighborTable

BLOCK_PAIRS = 2_000_000  # pairs held at a time


def complete_table(points: Points) -> NeighborTable:
    """Every record's distances to all others, ranked."""
    n = len(points)
    squared = np.empty((n, n - 1))
    records = np.empty((n, n - 1), dtype=np.int32)
    everyone = np.arange(n)
    for start in range(0, n, max(1, BLOCK_PAIRS // n)):
        rows = everyone[start : start + max(1, BLOCK_PAIRS // n)]
        others = np.broadcast_to(np.arange(n - 1), (len(rows), n - 1))
        others = others + (others >= rows[:, None])  # self is left out by number
        near, who = rank(squared_distances(points, rows[:, None], others), others)
        squared[rows], records[rows] = near, who
    return NeighborTable(
        offsets=np.arange(n + 1) * (n - 1),
        records=records.ravel(),
        squared=squared.ravel(),
        k=n - 1,
        epsilon=float("inf"),
    )
