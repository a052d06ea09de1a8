"""Distributions of one variable: how to bin it, and how far apart two of them are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_BINS = 40
LARGEST_UNIT = 2.0**50  # up to here a whole number has halves between it and the next


def total_variation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Share of records that would have to change level to make two tables of counts equal.

    Parameters
    ----------
    one, other : ndarray of int64, shape (v,)
        Counts of the same levels; neither all 0.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> total_variation(np.array([5, 3, 2]), np.array([4, 4, 2]))
    0.1
    """
    # whole numbers until the last step: equal shares give exactly 0
    n, m = int(one.sum()), int(other.sum())
    return float(np.abs(one * m - other * n).sum() / (2 * n * m))


def bin_edges(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of equal bins: one for each value of a short range of whole numbers, else sqrt(n).

    Parameters
    ----------
    ascending : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (b + 1,)
        b from 1 to 40.
    """
    low, high = float(ascending[0]), float(ascending[-1])
    near = high - low < MOST_BINS and max(-low, high) < LARGEST_UNIT
    if near and (ascending == np.round(ascending)).all():
        return np.arange(low, high + 2) - 0.5
    if low == high:
        half = max(0.5, abs(low) / 100)
        return np.array([low - half, low + half])
    bins = min(MOST_BINS, max(10, round(len(ascending) ** 0.5)))
    return np.linspace(low, high, bins + 1)


def grid_step(ascending: NDArray[np.float64]) -> float:
    """Find the step that all values are multiples of, as rounded ones are; 0 if there is none.

    Parameters
    ----------
    ascending : ndarray of float64
        Different values.

    Examples
    --------
    >>> grid_step(np.array([-5.0, 10.0, 15.0])), grid_step(np.array([0.0, 1.0, 2.5]))
    (5.0, 0.0)
    """
    gaps = np.diff(ascending)
    if not len(gaps):
        return 0.0
    step = float(np.median(gaps[gaps < 1.5 * gaps.min()]))
    multiples = ascending / step
    return step if (np.abs(multiples - np.round(multiples)) < 1e-6).all() else 0.0


def grid_edges(low: float, high: float, step: float) -> NDArray[np.float64]:
    """Edges halfway between multiples of a step, of bins that hold as many multiples each.

    Parameters
    ----------
    low, high : float
        The least and the largest value.
    step : float
        Above 0.

    Returns
    -------
    ndarray of float64, shape (b + 1,)
        b from 1 to 40.

    Examples
    --------
    >>> grid_edges(0.0, 10.0, 5.0)
    array([-2.5,  2.5,  7.5, 12.5])
    """
    first, last = np.floor(low / step + 0.5), np.floor(high / step + 0.5)
    each = -(-int(last - first + 1) // MOST_BINS)
    bins = -(-int(last - first + 1) // each)
    return np.asarray((first - 0.5 + each * np.arange(bins + 1)) * step, dtype=np.float64)


def bin_counts(ascending: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many values lie in each bin, shape (b,); the upper edge belongs to the last bin."""
    ends = np.searchsorted(ascending, edges, side="left")
    ends[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(ends)


def hellinger(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Hellinger distance of two tables of counts.

    Parameters
    ----------
    one, other : ndarray of int64, shape (v,)
        Counts of the same levels; neither all 0.

    Returns
    -------
    float
        From 0 to 1.

    References
    ----------
    Hellinger 1909: the square root of half the sum of (sqrt p - sqrt q)^2.

    Examples
    --------
    >>> round(hellinger(np.array([5, 3, 2]), np.array([4, 4, 2])), 6)
    0.079851
    """
    n, m = int(one.sum()), int(other.sum())
    # whole numbers below the root: equal shares give exactly 0
    roots = np.sqrt(one.astype(np.float64) * m) - np.sqrt(other.astype(np.float64) * n)
    return float(min(np.sqrt(0.5 * (roots**2).sum() / (float(n) * m)), 1.0))


def wasserstein(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far values must move, on average, to turn one sample into the other.

    Parameters
    ----------
    one, other : ndarray of float64, shape (n,) and (m,)
        Complete, at least one value each.

    Returns
    -------
    float
        At least 0, in the unit of the values.

    References
    ----------
    Wasserstein 1969, order 1; for n = m the mean distance of the sorted values.

    Examples
    --------
    >>> wasserstein(np.array([1.0, 2.0]), np.array([4.0, 1.0]))
    1.0
    """
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(one, other))


def standard_deviation(values: NDArray[np.float64]) -> float:
    """Standard deviation, divisor n - 1, of numbers of any size; exactly 0 for a constant.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Complete.
    """
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    centered = values - (values / len(values)).sum()
    largest = float(np.abs(centered).max())
    return largest * float((centered / largest).std(ddof=1))
