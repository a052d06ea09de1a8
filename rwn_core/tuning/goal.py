"""Goals of a search, and the frontier of two measures.

A goal orders settings by one measure among those that keep all limits. The frontier needs no limit:
it holds the settings that no other one beats on both of two measures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rwn_core.data.variable import NamedParameters, checks_form
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy


def sign(measure: str) -> float:
    """+1 where a lower value is wanted, -1 where a higher one is."""
    better = MEASURES[measure].better
    if better == "neutral":
        raise ParameterError(
            f"{MEASURES[measure].title} has no better side, so nothing can be sought by it; choose "
            "another measure."
        )
    return 1.0 if better == "lower" else -1.0


@checks_form
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
    placed = ((point.median(one), point.median(two), point) for point in points)
    return undominated(placed, (sign(one), sign(two)))


def undominated(
    placed: Iterable[tuple[float | None, float | None, Point]], signs: Sequence[float] = (1.0, 1.0)
) -> list[Point]:
    """Find the points that no other beats on two numbers, of which less is better by a sign of 1.

    A point without one of them, or of too few records, is left out.
    """
    finite = [
        (signs[0] * x, signs[1] * y, point)
        for x, y, point in placed
        if x is not None and y is not None and not point.few
        if math.isfinite(x) and math.isfinite(y)
    ]
    found: list[Point] = []
    least = math.inf
    last = (math.nan, math.nan)
    for x, y, point in sorted(finite, key=lambda each: each[:2]):
        if y < least or (x, y) == last:
            found.append(point)
            least = y
            last = (x, y)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(NamedParameters):
    """A goal of a search: the best `best` that keeps a policy.

    Attributes
    ----------
    keep : Policy
        All limits to keep.
    best : str
        Measure to make as good as possible.

    Raises
    ------
    ParameterError
        The measure has no better side, or the policy has no limits.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="probabilistic_linkage", at_most=0.1),))
    >>> rwn.Goal(keep=policy, best="association_loss").best
    'association_loss'
    """

    keep: Policy
    best: str

    def __post_init__(self) -> None:
        """Refuse a measure without a better side, and a policy without limits."""
        sign(self.best)
        if not self.keep.limits:
            raise ParameterError("The policy has no limits; give it at least one.")

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures that a search for it reads."""
        return tuple(dict.fromkeys((*self.keep.measures, self.best)))

    def excess(self, point: Point) -> float:
        """Return the largest share of a limit that one more release uses, above 1.

        At most 0 if every limit is met; inf where a limit has no number, or too few records are
        released.
        """
        largest = None if point.few else self.keep.judge(point).largest
        return math.inf if largest is None else largest - 1.0

    def loss(self, point: Point) -> float:
        """The measure to make good, lower is better; inf where it has no answer."""
        median = point.median(self.best)
        return math.inf if median is None else sign(self.best) * median

    def answers(self, point: Point) -> bool:
        """True if a setting has an answer for every measure."""
        return all(point.median(key) is not None for key in self.measures)
