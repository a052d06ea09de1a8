"""What several releases tell somebody who has nothing else: the mode and the donors of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial, perm
from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law


def mode_is_own(q: float, donors: int, releases: int) -> float:
    """P(the most frequent value of a cell over M aligned releases is the true one).

    Parameters
    ----------
    q : float
        Modification probability, from 0 to 1.
    donors : int
        Different donor values, none of them the own; at least 1.
    releases : int
        M, at least 1.

    Returns
    -------
    float
        Ties are broken at random.
    """
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
    """Ways to spread balls over boxes, by the largest count and how many boxes have it."""
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
    """Non-increasing positive numbers, at most `parts` of them, that add up to `total`."""
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
    """Expected number of different donor values seen in M releases at q = 1 (coupon collector)."""
    return float(donors * (1.0 - (1.0 - 1.0 / donors) ** releases))


def values_alone(law: Law, releases: Sequence[int]) -> dict[str, Any]:
    """What aligned releases tell without the original file, of a typical masked cell.

    Parameters
    ----------
    law : Law
    releases : sequence of int
        The numbers M, each at least 1.

    Returns
    -------
    dict
        "releases"; "q"; "donors" of a typical record, its median neighborhood; for each number
        of releases "mode", P(the most frequent value is the true one), and "distinct", the
        expected number of different donors seen where every value is modified.

    Raises
    ------
    NotApplicable
        The method has no neighborhoods.
    """
    if law.neighborhoods is None:
        raise NotApplicable("This is for a method that draws from neighborhoods.")
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
