"""Averaging attack: modal value and donors of a cell over several releases."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial, perm
from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law


def mode_is_own(q: float, donors: int, releases: int) -> float:
    """Return P(the mode of a cell over M aligned releases is the true value)."""
    # `donors` different values, none of them the own one; ties are broken at random
    share = q / donors
    total = 0.0
    for own in range(releases + 1):
        rest = releases - own
        for largest, at_top, ways in _occupancies(rest, donors):
            if largest > own or not own:
                continue
            tied = at_top + 1 if largest == own else 1
            total += comb(releases, own) * (1 - q) ** own * share**rest * ways / tied
    return float(total)


def _occupancies(balls: int, boxes: int) -> list[tuple[int, int, int]]:
    """Return (largest count, boxes with it, ways) of spreading balls over boxes."""
    ways_of: dict[tuple[int, int], int] = {}
    for counts in _partitions(balls, boxes):
        ways = factorial(balls)
        for count in counts:
            ways //= factorial(count)
        orders = perm(boxes, len(counts))
        for value in set(counts):
            orders //= factorial(counts.count(value))
        key = (counts[0], counts.count(counts[0])) if counts else (0, boxes)
        ways_of[key] = ways_of.get(key, 0) + ways * orders
    return [(top, at_top, ways) for (top, at_top), ways in ways_of.items()]


def _partitions(total: int, parts: int, most: int | None = None) -> list[tuple[int, ...]]:
    """Return the partitions of `total` into at most `parts` positive numbers, non-increasing."""
    if total == 0:
        return [()]
    if parts == 0:
        return []
    most = total if most is None else min(most, total)
    return [
        (first, *rest)
        for first in range(most, 0, -1)
        for rest in _partitions(total - first, parts - 1, first)
    ]


def distinct_donors(donors: int, releases: int) -> float:
    """Return the expected number of distinct donor values in M releases at q = 1."""
    return float(donors * (1.0 - (1.0 - 1.0 / donors) ** releases))


def values_alone(law: Law, releases: Sequence[int]) -> dict[str, Any]:
    """Return the averaging attack's success on a median neighborhood, by number of releases."""
    if law.neighborhoods is None:
        raise NotApplicable("This is for a method that draws from neighborhoods.")
    if law.neighborhoods.shares is not None:
        raise NotApplicable("This is for donors that are equally likely, not for a soft kernel.")
    q = float(law.q.max())
    sizes = law.neighborhoods.sizes
    donors = max(1, round(float(np.median(sizes[sizes > 0])))) if (sizes > 0).any() else 1
    return {
        "releases": list(releases),
        "q": q,
        "donors": donors,
        "mode": [min(mode_is_own(q, donors, times), 1.0) for times in releases],
        "distinct": [distinct_donors(donors, times) for times in releases],
    }
