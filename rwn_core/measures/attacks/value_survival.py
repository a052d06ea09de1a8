"""Which values come through: how likely a value is to appear, and how often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

LARGEST_COUNT = 60  # of a count's distribution; what lies beyond is its last entry


def appearance(table: sparse.csr_array | sparse.csc_array) -> NDArray[np.float64]:
    """P(each value appears anywhere in the release), shape (V,).

    Parameters
    ----------
    table : sparse array, shape (n, V)
        The law of one variable, from `CellLaw.table`; rows are independent.
    """
    columns = sparse.csc_array(table)
    with np.errstate(divide="ignore"):
        misses = np.log1p(-np.minimum(columns.data, 1.0))
    return -np.expm1(_column_sums(columns, misses))


def expected_copies(table: sparse.csr_array | sparse.csc_array) -> NDArray[np.float64]:
    """Expected number of released records with each value, shape (V,)."""
    return np.asarray(table.sum(axis=0)).ravel()


def _column_sums(columns: sparse.csc_array, data: NDArray[np.float64]) -> NDArray[np.float64]:
    column = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    return np.asarray(np.bincount(column, data, columns.shape[1]), dtype=np.float64)


def count_distribution(
    chances: NDArray[np.float64], largest: int = LARGEST_COUNT
) -> NDArray[np.float64]:
    """The distribution of how many of some independent events happen (Poisson-binomial).

    Parameters
    ----------
    chances : ndarray of float64, shape (n,)
        From 0 to 1.
    largest : int
        The last entry holds this count and all beyond.

    Returns
    -------
    ndarray of float64, shape (min(n, largest) + 1,)

    Examples
    --------
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
