"""Swapping along ranks: who exchanges values with whom, in two published forms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

HAIR = 1e-9  # so that 0.29 * 100 counts as 29


def whole_part(number: float) -> int:
    """The whole part of a share of a count, unharmed by rounding."""
    return math.floor(number + HAIR)


def moore_partners(reach: int, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Partners along a ranking: each position with a random free one of those that follow.

    Parameters
    ----------
    reach : int
        Whole part of P N; the last of so many that follow is left out.
    uniform : ndarray of float64, shape (N,)
        Decides for the record of each position, from the first on.

    Returns
    -------
    ndarray of int64, shape (N,)
        The position itself where no other is free.

    References
    ----------
    Moore 1996.
    """
    n = len(uniform)
    partner, free = np.arange(n), np.ones(n, dtype=bool)
    for place in range(n if reach > 1 else 0):
        if free[place]:
            some = np.flatnonzero(free[place + 1 : place + reach])
            if some.size:
                other = place + 1 + int(some[int(uniform[place] * some.size)])
                partner[place], partner[other] = other, place
                free[other] = False
    return partner


def mu_argus_partners(reach: int, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Partners along a ranking: a random distance, then the nearest free one before or after it.

    Parameters
    ----------
    reach : int
        The largest distance.
    uniform : ndarray of float64, shape (N,)

    Returns
    -------
    ndarray of int64, shape (N,)

    References
    ----------
    The form of mu-Argus, which it calls deprecated: distances are not uniform.
    """
    n = len(uniform)
    partner, free = np.arange(n), np.ones(n, dtype=bool)
    for place in range(n - 1 if reach else 0):
        if free[place]:
            aim = min(place + 1 + int(reach * uniform[place]), n - 1)
            before = np.flatnonzero(free[place + 1 : aim + 1])
            after = np.flatnonzero(free[aim : min(n - 1, place + reach) + 1])
            if before.size or after.size:
                other = place + 1 + int(before[-1]) if before.size else aim + int(after[0])
                partner[place], partner[other] = other, place
                free[other] = False
    return partner


def range_asked(
    ranked: NDArray[np.float64], first: int, last: int, asked: tuple[float, float, float]
) -> float:
    """Give the range of ranks of a variable, as a share: the largest that P, R0 and K0 ask for.

    Parameters
    ----------
    ranked : ndarray of float64, shape (n,)
        Its known values, the largest first.
    first, last : int
        From which rank to which they are exchanged.
    asked : tuple of three float
        P, R0 and K0.
    """
    p, r0, k0 = asked
    exchanged = ranked[first:last]
    if not exchanged.size:
        return p
    width = ranked[max(first - 1, 0)] - ranked[min(last, len(ranked) - 1)]
    if width <= 0:
        return p
    of_r0 = np.sqrt(2 * exchanged.var() * (1 - r0)) / width
    of_k0 = np.sqrt(8 / 3) * k0 * abs(exchanged.mean()) / width
    return float(max(p, of_r0, of_k0))


def descending(values: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.int64]:
    """The records with a known value, the largest first, ties in random order."""
    known = np.flatnonzero(~np.isnan(values))
    return known[np.lexsort((ties[known], -values[known]))]


def group_means(
    values: NDArray[np.float64], order: NDArray[np.int64], first: int, last: int
) -> NDArray[np.float64]:
    """The mean of its group for the largest and the smallest numbers, NaN for the others."""
    means = np.full(len(values), np.nan)
    for group in (order[:first], order[last:]):
        if group.size:
            means[group] = values[group].mean()
    return means
