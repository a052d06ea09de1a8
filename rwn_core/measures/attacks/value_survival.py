"""Which values come through: how likely a value is to appear, how often, and as the extreme."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.mechanism.cell_law import CellLaw

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


def extreme_distribution(
    law: CellLaw, name: str, *, largest: bool = True, values: int = 40
) -> tuple[list[Any], NDArray[np.float64]]:
    """The distribution of the released maximum (or minimum) of a numeric variable.

    Parameters
    ----------
    law : CellLaw
    name : str
        A variable with numbers.
    largest : bool
        The maximum; otherwise the minimum.
    values : int
        How many of the most extreme original values to tell apart.

    Returns
    -------
    values : list
        The most extreme first.
    probability : ndarray of float64
        That each is the released extreme; what is missing to 1 falls to values further in.

    References
    ----------
    P(max <= v) = product over records of P(value <= v): rows are independent.
    """
    table, known = law.table(name)
    present = [place for place, value in enumerate(known) if value is not None]
    ordered = present[::-1] if largest else present
    chosen = ordered[:values]
    beyond = np.cumsum(table[:, chosen].toarray(), axis=1)
    none_beyond = np.prod(np.clip(1.0 - beyond, 0.0, 1.0), axis=0)
    probability = -np.diff(none_beyond, prepend=1.0)
    return [known[place] for place in chosen], np.clip(probability, 0.0, 1.0) + 0.0
