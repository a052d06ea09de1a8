"""Goals of a search, and the frontier of two measures.

A goal orders settings by one measure among those that keep all limits. The frontier needs no limit:
it holds the settings that no other one beats on both of two measures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rwn_core.data.variable import NamedParameters, checks_form
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy, refuse_percentage


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(NamedParameters):
    """State a goal: the best `best` that keeps a policy, or one measure within a limit.

    Attributes
    ----------
    keep : Policy or str
        All limits to keep; or one measure: at most `limit`, where lower is better, else at least.
    best : str
        Measure to make as good as possible.
    limit : float, optional
        Of one measure; a policy has its own.

    Raises
    ------
    ParameterError
        A measure has no better side, the policy has no limits, or `limit` is missing or too many.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))
    >>> rwn.Goal(keep=policy, best="association_loss").best
    'association_loss'
    """

    keep: Policy | str
    best: str
    limit: float | None = None

    def __post_init__(self) -> None:
        """Every measure needs a better side, and one measure alone a limit."""
        sign(self.best)
        if isinstance(self.keep, Policy):
            if not self.keep.limits:
                raise ParameterError("The policy has no limits; give it at least one.")
            if self.limit is not None:
                raise ParameterError("A policy has its own limits; leave limit out.")
            return
        sign(self.keep)
        if self.limit is None or not math.isfinite(self.limit):
            raise ParameterError("The limit must be a number.")
        refuse_percentage(self.keep, self.limit)

    @property
    def kept(self) -> tuple[str, ...]:  # words: public name
        """The measures that have a limit."""
        return self.keep.measures if isinstance(self.keep, Policy) else (self.keep,)

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures that a search for it reads."""
        return tuple(dict.fromkeys((*self.kept, self.best)))

    def worst(self, point: Point) -> float:
        """The unfavorable end of where one more release falls; lower is better, inf without one.

        Of a policy the largest share of a limit that is used there. Inf with too few records
        released, too.
        """
        if point.few:
            return math.inf
        if isinstance(self.keep, Policy):
            largest = self.keep.judge(point).largest
            return math.inf if largest is None else largest
        spread = point.spreads.get(self.keep)
        if spread is None or spread.median is None:
            return math.inf
        if spread.is_bound:  # a lower bound keeps no limit
            return math.inf if spread.at_most is None else spread.at_most
        low, high = spread.interval or (spread.median, spread.median)
        return high if sign(self.keep) > 0 else -low

    def excess(self, point: Point) -> float:
        """Return the distance of that end beyond the limit; at most 0 if every limit is met."""
        if isinstance(self.keep, Policy):
            return self.worst(point) - 1.0
        return self.worst(point) - sign(self.keep) * float(self.limit or 0.0)

    def loss(self, point: Point) -> float:
        """The measure to make good, lower is better; inf where it has no answer."""
        median = point.median(self.best)
        return math.inf if median is None else sign(self.best) * median

    def answers(self, point: Point) -> bool:
        """True if a setting has an answer for every measure."""
        return all(point.median(key) is not None for key in self.measures)

    @property
    def words(self) -> str:
        """The goal in words: its limits, and what is best."""
        if isinstance(self.keep, Policy):
            limits = {limit.measure: limit.at_most for limit in self.keep.limits}
        else:
            limits = {self.keep: float(self.limit or 0.0)}
        each = ", ".join(limit_words(measure, limit) for measure, limit in limits.items())
        return f"{each} with the best {MEASURES[self.best].title.lower()}"


def limit_words(measure: str, limit: float, title: str | None = None) -> str:
    """Write a limit, on the side that is kept."""
    side = "at most" if sign(measure) > 0 else "at least"
    return f"{title or MEASURES[measure].title} {side} {MEASURES[measure].words(limit)}"
