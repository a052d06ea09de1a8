"""Survival of values: probability and number of their appearances in a release."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats

LARGEST_COUNT = 60  # of a count's distribution; what lies beyond is its last entry


def appearance(table: sparse.csr_array | sparse.csc_array) -> Floats:
    """Return P(each value appears in the release), shape (V,), from a law's table (n, V)."""
    columns = sparse.csc_array(table)
    with np.errstate(divide="ignore"):
        misses = np.log1p(-np.minimum(columns.data, 1.0))
    column = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    return np.asarray(-np.expm1(np.bincount(column, misses, columns.shape[1])))


def expected_copies(table: sparse.csr_array | sparse.csc_array) -> Floats:
    """Return the expected number of released records with each value, shape (V,)."""
    return np.asarray(table.sum(axis=0)).ravel()


def count_distribution(chances: Floats, largest: int = LARGEST_COUNT) -> Floats:
    """Return the distribution of how many independent events happen (Poisson-binomial).

    >>> count_distribution(np.array([0.5, 0.5])).tolist()
    [0.25, 0.5, 0.25]
    """
    # Shapes: chances (n,); the answer (c,), of counts from 0 on. Its last is of all counts from
    # the smaller of n and `largest` on.
    distribution = np.zeros(min(len(chances), largest) + 1)
    distribution[0] = 1.0
    for chance in chances[chances > 0]:
        moved = distribution * chance
        distribution -= moved
        distribution[1:] += moved[:-1]
        distribution[-1] += moved[-1]
    return np.clip(distribution, 0.0, 1.0)
