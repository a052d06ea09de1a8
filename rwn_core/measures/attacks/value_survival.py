"""Survival of values: probability and number of their appearances in a release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

LARGEST_COUNT = 60  # of a count's distribution; what lies beyond is its last entry


def appearance(table: sparse.csr_array | sparse.csc_array) -> NDArray[np.float64]:
    """Return P(each value appears in the release), shape (V,), from a law's table (n, V)."""
    columns = sparse.csc_array(table)
    with np.errstate(divide="ignore"):
        misses = np.log1p(-np.minimum(columns.data, 1.0))
    return -np.expm1(_column_sums(columns, misses))


def expected_copies(table: sparse.csr_array | sparse.csc_array) -> NDArray[np.float64]:
    """Return the expected number of released records with each value, shape (V,)."""
    return np.asarray(table.sum(axis=0)).ravel()


def _column_sums(columns: sparse.csc_array, data: NDArray[np.float64]) -> NDArray[np.float64]:
    column = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    return np.asarray(np.bincount(column, data, columns.shape[1]), dtype=np.float64)


def count_distribution(
    chances: NDArray[np.float64], largest: int = LARGEST_COUNT
) -> NDArray[np.float64]:
    """Return the distribution of how many independent events happen (Poisson-binomial).

    >>> count_distribution(np.array([0.5, 0.5])).tolist()
    [0.25, 0.5, 0.25]
    """
    size = min(len(chances), largest) + 1
    distribution = np.zeros(size)
    distribution[0] = 1.0
    for chance in chances[chances > 0]:
        moved = distribution * chance
        distribution -= moved
        distribution[1:] += moved[:-1]
        distribution[-1] += moved[-1]
    return np.clip(distribution, 0.0, 1.0)
