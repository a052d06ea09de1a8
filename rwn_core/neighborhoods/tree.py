"""The neighbor table of a large file, from SciPy's k-d tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from rwn_core.neighborhoods.ranking import TIE, rank, squared_distances
from rwn_core.neighborhoods.table import NeighborTable

CHUNK = 1024  # records searched at a time
SLACK = 1e-6  # the tree only preselects; the exact distances decide


def tree_table(
    points: NDArray[np.float64],
    k: int,
    epsilon: float,
    *,
    threads: int = 2,
    progress: Callable[[float], None] | None = None,
) -> NeighborTable:
    """Every record's others within max(epsilon, distance to the k-th nearest), ranked.

    Parameters
    ----------
    points : ndarray, shape (n, d)
    k : int
        0 for none.
    epsilon : float
    threads : int
    progress : callable, optional
        Told the share done, from 0 to 1.

    Returns
    -------
    NeighborTable
    """
    n = len(points)
    contiguous = np.ascontiguousarray(points)
    tree = cKDTree(contiguous)
    sizes = np.empty(n, dtype=np.int64)
    kept_records, kept_squared = [], []
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(start + CHUNK, n))
        edge = _edges(tree, contiguous[rows], k, epsilon, threads)
        found = tree.query_ball_point(
            contiguous[rows], edge * (1 + SLACK) + 1e-300, workers=threads
        )
        for row, candidates in zip(rows, found, strict=True):
            others = np.array(candidates, dtype=np.int64)
            others = others[others != row]
            squared, others = rank(squared_distances(points, np.asarray(row), others), others)
            size = _cut(squared, k, epsilon)
            sizes[row] = size
            kept_records.append(others[:size].astype(np.int32))
            kept_squared.append(squared[:size])
        if progress is not None:
            progress((start + len(rows)) / n)
    return NeighborTable(
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        records=np.concatenate(kept_records),
        squared=np.concatenate(kept_squared),
        k=k,
        epsilon=epsilon,
    )


def _edges(
    tree: cKDTree, queries: NDArray[np.float64], k: int, epsilon: float, threads: int
) -> NDArray[np.float64]:
    edge = np.full(len(queries), epsilon)
    if k:
        # the record itself is one of the k + 1 nearest distances, wherever ties put it
        distances, _ = tree.query(queries, k=[k + 1], workers=threads)
        edge = np.maximum(edge, distances[:, 0])
    return edge


def _cut(squared: NDArray[np.float64], k: int, epsilon: float) -> int:
    edge = epsilon * epsilon
    if k:
        edge = max(edge, squared[k - 1])
    return int(np.searchsorted(squared, edge * (1 + TIE), side="right"))
