"""The frontier: settings that no other setting beats on both of two measures."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES, no_measure
from rwn_core.tuning.point import Point


def sign(measure: str) -> float:
    """+1 where a lower value is wanted, -1 where a higher one is."""
    if measure not in MEASURES:
        raise ParameterError(no_measure(measure))
    better = MEASURES[measure].better
    if better == "neutral":
        raise ParameterError(
            f"{MEASURES[measure].title} has no better side, so nothing can be sought by it; choose "
            "another measure."
        )
    return 1.0 if better == "lower" else -1.0


def frontier(points: Iterable[Point], one: str, two: str) -> list[Point]:
    """Find the points that are not dominated, best by measure `one` first.

    Parameters
    ----------
    points : iterable of Point
    one, two : str
        Measure keys; medians are compared.

    Returns
    -------
    list of Point
        A point is left out if another is at least as good on both measures and better on one, or
        if it has no answer for one of them or releases too few records. Of points equal on both,
        all stay.

    Raises
    ------
    ParameterError
        A measure has no better side.
    """
    first, second = sign(one), sign(two)
    return undominated(
        (first * x, second * y, point)
        for point in points
        if (x := point.median(one)) is not None and (y := point.median(two)) is not None
    )


def undominated(placed: Iterable[tuple[float, float, Point]]) -> list[Point]:
    """Find the points that no other beats on two numbers of which less is better."""
    finite = [
        each
        for each in placed
        if math.isfinite(each[0]) and math.isfinite(each[1]) and not each[2].few
    ]
    found: list[Point] = []
    least, last = math.inf, (math.nan, math.nan)
    for x, y, point in sorted(finite, key=lambda each: each[:2]):
        if y < least or (x, y) == last:
            found.append(point)
            least, last = y, (x, y)
    return found
