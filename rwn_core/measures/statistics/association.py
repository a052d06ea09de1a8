"""How strongly any two variables go together: numbers, categories, or one of each.

What is squared is corrected for the number of levels, so that a category of many levels is near 0
beside a variable that it says nothing of.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.aligned import standardized, varies
from rwn_core.measures.statistics.correlation import NO_VARIATION, correlation_matrix

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

DENSE = 1_000_000  # cells of a table up to which every one is counted, empty ones among them


def association_matrix(
    numbers: Floats,
    categories: Sequence[Codes],
    *,
    correlations: Floats | None = None,
    signed: bool = False,
) -> Floats:
    """Measure the association of all pairs of variables.

    Parameters
    ----------
    numbers : ndarray of float64, shape (n, m)
        NaN where missing; each pair uses the records that have both.
    categories : sequence of ndarray of int, shape (n,)
        c of them: level numbers from 0 on, -1 where missing.
    correlations : ndarray of float64, shape (m, m), optional
        Of the numbers, where they are known already.
    signed : bool
        Whether an association with a category is negative where less is explained than chance
        explains, so that its mean over unrelated variables is near 0. It is 0 there by default.

    Returns
    -------
    ndarray of float64, shape (m + c, m + c)
        The numbers first. Of two numbers Pearson's correlation, from -1 to 1; of a number and a
        category the correlation ratio, and of two categories Cramer's V, each from 0 to 1 and
        corrected for the number of levels. NaN where one of the pair does not vary.

    References
    ----------
    Kelley 1935 (correlation ratio); Bergsma 2013 (Cramer's V).

    Examples
    --------
    >>> low_high = np.array([0, 0, 1, 1])
    >>> association_matrix(np.array([[1.0], [2.0], [3.0], [4.0]]), [low_high]).round(4).tolist()
    [[1.0, 0.8367], [0.8367, 1.0]]
    """
    m, c = numbers.shape[1], len(categories)
    result = np.full((m + c, m + c), np.nan)
    result[:m, :m] = correlation_matrix(numbers) if correlations is None else correlations
    scaled = _scaled(numbers) if c else numbers
    for at, codes in enumerate(categories, start=m):
        result[at, :m] = result[:m, at] = correlation_ratios(scaled, codes, signed=signed)
        for before, other in enumerate(categories[: at - m + 1], start=m):
            result[at, before] = result[before, at] = cramers_v(codes, other, signed=signed)
    return result


def _scaled(numbers: Floats) -> Floats:
    """Each column as standard deviations from its mean; NaN where missing or without variation."""
    result = np.full(numbers.shape, np.nan, order="F")
    for column in range(numbers.shape[1]):
        known = ~np.isnan(numbers[:, column])
        present = numbers[known, column][:, None]
        if varies(present).all():
            result[known, column] = standardized(present)[:, 0]
    return result


def correlation_ratios(numbers: Floats, codes: Codes, *, signed: bool = False) -> Floats:
    """How much of each number's variation lies between the levels of one category.

    Parameters
    ----------
    numbers : ndarray of float64, shape (n, m)
        Near 0 and of unit size; NaN where missing.
    codes : ndarray of int, shape (n,)
        Level numbers, -1 where missing.
    signed : bool
        As in `association_matrix`.

    Returns
    -------
    ndarray of float64, shape (m,)
        Square root of 1 - (1 - eta^2) (n - 1) / (n - k) for k levels, at least 0 unless it is
        signed; NaN where there are fewer than two levels, or one record a level.
    """
    return np.array([_ratio(column, codes, signed) for column in numbers.T])


def _root(squared: float, signed: bool) -> float:
    """The square root of what is at most 1; below 0 it is 0, or minus the root of its size."""
    if squared >= 0.0 or not signed:
        return float(np.sqrt(np.clip(squared, 0.0, 1.0)))
    return -float(np.sqrt(-squared))


def _ratio(values: Floats, codes: Codes, signed: bool) -> float:
    known = (codes >= 0) & ~np.isnan(values)
    if not known.all():
        values, codes = values[known], codes[known]
    sizes = np.bincount(codes)
    n, k = len(codes), int(np.count_nonzero(sizes))
    if k < 2 or n <= k:
        return float("nan")
    # one pass over the records for the sums of the levels; a dot product would start threads
    shift = float(values.sum()) ** 2 / n
    total = float(np.einsum("i,i->", values, values)) - shift
    if total <= NO_VARIATION * n:
        return float("nan")
    sums = np.bincount(codes, weights=values)
    between = float((sums**2 / np.maximum(sizes, 1)).sum()) - shift
    corrected = 1.0 - (1.0 - between / total) * (n - 1) / (n - k)
    return _root(corrected, signed)


def cramers_v(one: Codes, other: Codes, *, signed: bool = False) -> float:
    """Cramer's V of two categories, corrected for the number of levels.

    Parameters
    ----------
    one, other : ndarray of int, shape (n,)
        Level numbers, -1 where missing.
    signed : bool
        As in `association_matrix`.

    Returns
    -------
    float
        From 0 to 1, unless it is signed; NaN where one of them has a single level, or too many
        for so few records.

    References
    ----------
    Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T.
    """
    known = (one >= 0) & (other >= 0)
    if not known.all():
        one, other = one[known], other[known]
    n = len(one)
    if n < 2:
        return float("nan")
    rows, columns = np.bincount(one), np.bincount(other)
    r, c = (int(np.count_nonzero(sizes)) for sizes in (rows, columns))
    phi = _squares(one, other, rows, columns) - 1.0 - (r - 1) * (c - 1) / (n - 1)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1.0
    if least <= 1e-12:
        return float("nan")
    return _root(phi / least, signed)


def _squares(
    one: Codes, other: Codes, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> float:
    """Sum over the cells of count^2 / (row's count x column's count): 1 + chi^2 / n."""
    cell = one.astype(np.int64) * len(columns) + other
    if len(rows) * len(columns) <= DENSE:
        counts = np.bincount(cell, minlength=len(rows) * len(columns))
        (cells,) = np.nonzero(counts)
        counts = counts[cells]
    else:  # most cells of long tables are empty
        cells, counts = np.unique(cell, return_counts=True)
    expected = rows[cells // len(columns)] * columns[cells % len(columns)].astype(np.float64)
    return float((counts.astype(np.float64) ** 2 / expected).sum())
