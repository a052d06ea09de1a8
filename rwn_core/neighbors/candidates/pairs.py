"""Method 2: neighbors from random pairs of records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.candidates.assemble import table_of_pairs
from rwn_core.neighbors.candidates.random_others import random_others
from rwn_core.neighbors.candidates.random_pairs import random_pairs
from rwn_core.neighbors.distance import squared_distances
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits
from rwn_core.randomness import ISOLATED_STREAM, SecretKey

BYTES_A_PARTNER = 100  # while they are ranked: numbers, distances, and two orders of them


def paired_table(
    points: NDArray[np.float64],
    k: int | None,
    *,
    m: int,
    key: SecretKey,
    budget: float | None = None,
) -> NeighborTable:
    """Every record's partners in floor(n m / 2) random pairs, ranked.

    A record that no pair has is given max(1, k) random others; they do not get it in return,
    so that nobody else's partners depend on it.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
        A record with fewer partners has them all.
    m : int
        Mean number of partners, at most n - 1.
    key : SecretKey
    budget : float, optional
        Bytes of memory that may be used.

    Returns
    -------
    NeighborTable

    Raises
    ------
    ParameterError
        The pairs would not fit.
    """
    n = len(points)
    needed = BYTES_A_PARTNER * float(n) * m
    check_fits(needed, budget_bytes(budget), "Ranking these pairs", "take a smaller m")
    i, j = random_pairs(key, n, n * m // 2)
    rows, others = np.concatenate((i, j)), np.concatenate((j, i))
    alone = np.flatnonzero(np.bincount(rows, minlength=n) == 0)
    if len(alone):
        count = min(max(1, k or 0), n - 1)
        given = random_others(key, alone, n, count, ISOLATED_STREAM)
        rows = np.concatenate((rows, np.repeat(alone, count)))
        others = np.concatenate((others, given.ravel()))
    return table_of_pairs(n, rows, others, squared_distances(points, rows, others))
