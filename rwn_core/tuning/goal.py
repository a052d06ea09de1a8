"""Goal seek: the best setting that keeps a limit, refined between the points of a grid.

Settings are compared on common seeds, where luck cancels. What is promised about the answer comes
from fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.microdata import Microdata
from rwn_core.tuning.non_dominated import sign
from rwn_core.tuning.point import Point
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.steps import around, half_steps, middle
from rwn_core.tuning.trials import Plan, Trials

_FRESH = 1_000_000  # apart from the seeds of any sweep
_HALVES = 4  # steps from an answer toward a better one that failed
_CANDIDATES = 6  # settings checked on fresh releases before the search gives up

Evaluate = Callable[[Sequence[Setting], Plan], list[Point]]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted: the best `best` that keeps `keep` within `limit`.

    Attributes
    ----------
    keep : str
        Measure with the limit: at most, where lower is better, else at least.
    limit : float
    best : str
        Measure to make as good as possible.
    """

    keep: str
    limit: float
    best: str

    def __post_init__(self) -> None:
        """Both measures need a better side."""
        sign(self.keep), sign(self.best)
        if not math.isfinite(self.limit):
            raise ParameterError("The limit must be a number.")

    def worst(self, point: Point) -> float:
        """The unfavorable end of where one more release falls; lower is better, inf without one."""
        spread = point.spreads.get(self.keep)
        if spread is None or spread.median is None:
            return math.inf
        low, high = spread.interval or (spread.median, spread.median)
        return high if sign(self.keep) > 0 else -low

    def excess(self, point: Point) -> float:
        """How far that end lies beyond the limit; at most 0 where the limit is kept."""
        return self.worst(point) - sign(self.keep) * self.limit

    def loss(self, point: Point) -> float:
        """The measure to make good, lower is better; inf where it has no answer."""
        median = point.median(self.best)
        return math.inf if median is None else sign(self.best) * median

    @property
    def words(self) -> str:
        """The goal in words."""
        side = "at most" if sign(self.keep) > 0 else "at least"
        return (
            f"{MEASURES[self.keep].title} {side} {self.limit:.4g} with the best "
            f"{MEASURES[self.best].title.lower()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer of a search.

    Attributes
    ----------
    goal : Goal
    point : Point
        Read on fresh releases. If no setting keeps the limit, the one that comes closest.
    reached : bool
        Whether it keeps the limit: 19 of 20 further releases should.
    tried : int
        Settings that were looked at.
    """

    goal: Goal
    point: Point
    reached: bool
    tried: int

    @property
    def sentence(self) -> str:
        """The answer in words, with its uncertainty."""
        spread, best = self.point.spreads[self.goal.keep], self.point.spreads[self.goal.best]
        keep, wanted = MEASURES[self.goal.keep], MEASURES[self.goal.best]
        told = f"{keep.title} {_told(spread.median, spread.interval)}"
        if not self.reached:
            return (
                f"No setting that was tried keeps {self.goal.words.partition(' with ')[0]}. The "
                f"closest is {self.point.setting.words}: {told}."
            )
        return (
            f"{self.point.setting.words}: {told}; {wanted.title.lower()} "
            f"{_told(best.median, best.interval)}."
        )


def _told(median: float | None, interval: tuple[float, float] | None) -> str:
    if median is None:
        return "without an answer"
    if interval is None:
        return f"{median:.4g}"
    return f"{median:.4g} (one more release: {interval[0]:.4g} to {interval[1]:.4g})"


def seek(
    microdata: Microdata,
    points: Sequence[Point],
    goal: Goal,
    *,
    plan: Plan,
    rounds: int = 3,
    progress: Progress | None = None,
) -> Found:
    """Find the best setting that keeps a limit.

    Starts at the best point of a sweep that keeps it, then tries settings half a grid step away in
    every direction, goes to the best, halves the step, and so on.

    Parameters
    ----------
    microdata : Microdata
    points : sequence of Point
        A finished sweep of one method on this table.
    goal : Goal
    plan : Plan
        Releases and seed of the search; those of the sweep let luck cancel.
    rounds : int
        How often the step is halved.
    progress : callable, optional
        Told the share done, from 0 to 1.

    Returns
    -------
    Found
        Its readings are those of fresh releases, twice as many as the plan has.

    Raises
    ------
    ParameterError
        There are no points to start from.
    """
    known = {point.setting.key: point for point in points if _answers(point, goal)}
    if not known:
        raise ParameterError(
            "No setting of the sweep has an answer for both measures; sweep with both of them."
        )
    tell = progress or (lambda share: None)
    plan = replace(plan, measures=tuple(dict.fromkeys((goal.keep, goal.best))))
    steps = half_steps(points)
    for number in range(rounds):
        here = _leader(known.values(), goal)
        wanted = [s for s in around(here.setting, steps, microdata.n) if s.key not in known]
        base, share = number / (rounds + 1), 1 / (rounds + 1)
        for point in _evaluate(microdata, wanted, plan, lambda s: tell(base + share * s)):  # noqa: B023  (called at once)
            known[point.setting.key] = point
        steps = {name: step / 2 for name, step in steps.items()}
    return _verified(microdata, known, goal, plan, tell)


def _verified(
    microdata: Microdata, known: Mapping[str, Point], goal: Goal, plan: Plan, tell: Progress
) -> Found:
    """The best settings again, on releases that had no part in choosing them."""
    fresh = replace(plan, seed=plan.seed + _FRESH, releases=max(3 * plan.releases, 24))
    keeping = {key: p for key, p in known.items() if goal.excess(p) <= 0}
    margin, failed = 0.0, None
    for _ in range(_CANDIDATES):
        left = [p for p in keeping.values() if goal.excess(p) <= -margin]
        if not left:
            break
        candidate = min(left, key=goal.loss)
        (point,) = _evaluate(microdata, [candidate.setting], fresh, lambda share: None)
        if goal.excess(point) <= 0:
            point = _closer(microdata, goal, fresh, point, failed)
            tell(1.0)
            return Found(goal=goal, point=point, reached=True, tried=len(known))
        failed = point
        # the common seeds were kind to this setting, and so to its neighbors: ask for more
        margin = max(margin, goal.excess(point) - goal.excess(candidate))
        del keeping[candidate.setting.key]
    closest = min(known.values(), key=goal.worst)
    (point,) = _evaluate(microdata, [closest.setting], fresh, lambda share: None)
    tell(1.0)
    return Found(goal=goal, point=point, reached=goal.excess(point) <= 0, tried=len(known))


def _closer(
    microdata: Microdata, goal: Goal, plan: Plan, kept: Point, failed: Point | None
) -> Point:
    """Between a setting that keeps the limit and a better one that does not: by halves."""
    for _ in range(_HALVES if failed is not None else 0):
        assert failed is not None
        between = middle(kept.setting, failed.setting)
        if between.key in (kept.setting.key, failed.setting.key):
            break
        (point,) = _evaluate(microdata, [between], plan, lambda share: None)
        if goal.excess(point) > 0:
            failed = point
        elif goal.loss(point) < goal.loss(kept):
            kept = point
        else:
            break
    return kept


def _answers(point: Point, goal: Goal) -> bool:
    return point.median(goal.keep) is not None and point.median(goal.best) is not None


def _leader(points: Any, goal: Goal) -> Point:
    """The best that keeps the limit; where none does, the one that comes closest."""
    ranked: list[Point] = list(points)
    keeping = [point for point in ranked if goal.excess(point) <= 0]
    return min(keeping, key=goal.loss) if keeping else min(ranked, key=goal.worst)


def _evaluate(
    microdata: Microdata, settings: Sequence[Setting], plan: Plan, tell: Progress
) -> list[Point]:
    trials, points = Trials(microdata, settings, plan), []
    for number, setting in enumerate(settings, start=1):
        points.append(trials.run(setting))
        tell(number / len(settings))
    return points
