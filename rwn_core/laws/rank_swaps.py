"""Rank swapping: partners along a ranking, in two published forms."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.neighbors.record_draws import order_by

HAIR = 1e-9  # so that 0.29 * 100 counts as 29


def whole_part(number: float) -> int:
    """The whole part of a share of a count, unharmed by rounding."""
    return math.floor(number + HAIR)


def moore_partners(reach: int, uniform: Floats) -> Integers:
    """Return partners along a ranking, shape (N,): a random free one of those that follow."""
    # Moore 1996. `reach` is the whole part of P N, its last rank left out; `uniform` has shape
    # (N,).
    partner = list(range(len(uniform)))
    chance = uniform.tolist()
    free = list(range(1 - len(uniform), 1))  # negated, so that the next rank is the last entry
    while free and reach > 1:
        place = -free.pop()
        within = len(free) - bisect_right(free, -place - reach)
        if within:
            other = -free.pop(-1 - int(chance[place] * within))
            partner[place], partner[other] = other, place
    return np.array(partner, dtype=np.int64)


def mu_argus_partners(reach: int, uniform: Floats) -> Integers:
    """Return partners along a ranking, shape (N,): at a random distance, else the nearest free."""
    # The form that mu-Argus calls deprecated: distances up to `reach`, not uniform. `uniform` has
    # shape (N,).
    n = len(uniform)
    partner = np.arange(n)
    free = np.ones(n, dtype=bool)
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


def descending(values: Floats, ties: Floats) -> Integers:
    """The records with a known value, the largest first, ties in random order."""
    # Shapes: values, ties (n,); the answer (N,), of those known.
    known = np.flatnonzero(~np.isnan(values))
    return known[order_by(-values[known], ties[known])]
