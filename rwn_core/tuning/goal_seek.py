"""Goal seek: the best setting that keeps a limit, refined between the points of a grid.

Settings are compared on common seeds, where luck cancels. What is promised about the answer comes
from fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.goal_seek_steps import around, half_steps, middle
from rwn_core.tuning.point import Point
from rwn_core.tuning.search_processes import Crew
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.trials import Plan

_ROUNDS = 3  # how often the step is halved
_FRESH = 1_000_000  # apart from the seeds of any sweep
_STATED = 59  # releases behind the stated interval: from the third smallest to the third largest
_HALVES = 4  # steps from an answer toward a better one that failed
_LINKAGES = ("distance_linkage", "bayes_linkage")  # no intruder is shown without the other
_CANDIDATES = 6  # settings checked on fresh releases before the search gives up

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
            f"{MEASURES[self.keep].title} {side} {_number(self.keep, self.limit)} with the best "
            f"{MEASURES[self.best].title.lower()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalAnswer:
    """The answer of a search.

    Attributes
    ----------
    goal : Goal
    point : Point
        Read on fresh releases, a linkage with both intruders. If no setting keeps the limit, the
        one that comes closest.
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
        """The answer in words, with its uncertainty, and the other intruder beside a linkage."""
        stated = [self._in_words(self.goal.keep)]
        if self.reached:
            stated.append(self._in_words(self.goal.best))
        stated += [self._in_words(key) for key in self.point.spreads if key not in self._wanted]
        words = f"{self.point.setting.words}: {'; '.join(stated)}."
        if self.reached:
            return words
        limit = self.goal.words.partition(" with ")[0]
        return f"No setting within the sweep's ranges keeps {limit}. The closest is {words}"

    @property
    def _wanted(self) -> tuple[str, str]:
        return (self.goal.keep, self.goal.best)

    def _in_words(self, measure: str) -> str:
        spread, title = self.point.spreads[measure], MEASURES[measure].title
        if spread.median is None:
            return f"{title} without an answer"
        if spread.interval is None:
            return f"{title} {_number(measure, spread.median)}"
        low, high = (_number(measure, end) for end in spread.interval)
        return f"{title} {_number(measure, spread.median)} (one more release: {low} to {high})"


def _number(measure: str, value: float) -> str:
    return f"{100 * value:.3g} %" if MEASURES[measure].bounds == (0.0, 1.0) else f"{value:.4g}"


def seek(
    microdata: Microdata,
    points: Sequence[Point],
    goal: Goal,
    *,
    plan: Plan,
    workers: int | None = None,
    progress: Progress | None = None,
) -> GoalAnswer:
    """Find the best setting that keeps a limit.

    Starts at the best point of a sweep that keeps it, then tries settings half a grid step away in
    every direction, goes to the best, halves the step, and so on; never beyond the least and the
    largest values of the sweep. Of several grids each number is sought that any of them has: where
    some settings lack it, its least value is one step from having none. The answer is chosen on
    releases that had no part in the search, and read on others that had no part in choosing it.

    Parameters
    ----------
    microdata : Microdata
    points : sequence of Point
        A finished sweep of one method on this table.
    goal : Goal
    plan : Plan
        Releases and seed of the search; those of the sweep let luck cancel.
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    GoalAnswer
        The same for any number of workers.

    Raises
    ------
    ParameterError
        There are no points to start from.
    RWNError
        A worker ended, for instance for lack of memory.
    """
    known = {point.setting.key: point for point in points if _answers(point, goal)}
    if not known:
        raise ParameterError(
            "No setting of the sweep has an answer for both measures; sweep with both of them."
        )
    progress = progress or (lambda share: None)
    plan = replace(plan, measures=tuple(dict.fromkeys((goal.keep, goal.best))))
    steps = half_steps(points)
    farthest = [point.setting for point in points]
    with Crew(microdata, farthest, plan, workers=thread_count(workers)) as crew:
        for number in range(_ROUNDS):
            here = _leader(known.values(), goal)
            wanted = [s for s in around(here.setting, steps) if s.key not in known]
            for point in crew.points(wanted, plan, _part(progress, number, _ROUNDS + 1)):
                known[point.setting.key] = point
            steps = {name: step.half() for name, step in steps.items()}
        answer = _verified(crew, known, goal, plan, _part(progress, _ROUNDS, _ROUNDS + 1))
    progress(1.0)
    return answer


def _part(progress: Progress, number: int, parts: int) -> Progress:
    """Progress within one of several parts."""
    return lambda share: progress((number + share) / parts)


def _verified(
    crew: Crew, known: Mapping[str, Point], goal: Goal, plan: Plan, progress: Progress
) -> GoalAnswer:
    """The best settings again, on releases that had no part in choosing them."""
    choosing = replace(plan, seed=plan.seed + _FRESH, releases=max(3 * plan.releases, 24))
    keeping = {key: p for key, p in known.items() if goal.excess(p) <= 0}
    margin, failed = 0.0, None
    for number in range(_CANDIDATES):
        left = [p for p in keeping.values() if goal.excess(p) <= -margin]
        if not left:
            break
        candidate = min(left, key=goal.loss)
        (point,) = crew.points([candidate.setting], choosing, _part(progress, number, _CANDIDATES))
        if goal.excess(point) <= 0:
            kept = _closer(crew, goal, choosing, point, failed)
            point = _stated(crew, kept.setting, plan, number)
            if goal.excess(point) <= 0:
                return GoalAnswer(goal=goal, point=point, reached=True, tried=len(known))
        failed = point
        # the seeds were kind to this setting, and so to its neighbors: ask for more
        more = goal.excess(point) - goal.excess(candidate)
        margin = max(margin, more if math.isfinite(more) else 0.0)  # no answer: only this one goes
        del keeping[candidate.setting.key]
    closest = min(known.values(), key=goal.worst)
    point = _stated(crew, closest.setting, plan, _CANDIDATES)
    return GoalAnswer(goal=goal, point=point, reached=goal.excess(point) <= 0, tried=len(known))


def _stated(crew: Crew, setting: Setting, plan: Plan, number: int) -> Point:
    """What is said of an answer: from releases that chose nothing, others at each attempt."""
    seed = plan.seed + _FRESH * (2 + number)
    count = max(_STATED, plan.releases)
    beside = _LINKAGES if set(plan.measures) & set(_LINKAGES) else ()
    measures = tuple(dict.fromkeys((*plan.measures, *beside)))
    plan = replace(plan, seed=seed, releases=count, measures=measures)
    (point,) = crew.points([setting], plan, lambda share: None)
    return point


def _closer(crew: Crew, goal: Goal, plan: Plan, kept: Point, failed: Point | None) -> Point:
    """Between a setting that keeps the limit and a better one that does not: by halves."""
    for _ in range(_HALVES if failed is not None else 0):
        assert failed is not None
        between = middle(kept.setting, failed.setting)
        if between.key in (kept.setting.key, failed.setting.key):
            break
        (point,) = crew.points([between], plan, lambda share: None)
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
