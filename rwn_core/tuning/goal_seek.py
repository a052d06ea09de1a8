"""Goal seek: the best setting that keeps all limits, refined between the points of a grid.

Settings are compared on common seeds, where luck cancels. What is promised about the answer comes
from fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, product
from typing import Any, NamedTuple

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, SoftRWN
from rwn_core.measures import ORDINARY
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress, thread_count
from rwn_core.tuning.answer import SearchAnswer
from rwn_core.tuning.evaluate import Plan, Plans, SettingPool, confirmed
from rwn_core.tuning.goal import Goal
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.sweep import Sweep
from rwn_core.tuning.verdict import RAISED

_ROUNDS = 3  # how often the step is halved
_STATED = 59  # releases behind the stated interval: from the third smallest to the third largest
_LINKAGES = (ORDINARY, RAISED[0])  # no intruder is shown without the other
_CANDIDATES = 6  # settings checked on fresh releases before the search gives up

_DIGITS = {"epsilon": 4, "q": 3, "width": 4, "balance": 3}


def _refuse_start(points: Sequence[Point], goal: Goal) -> None:
    """Refuse settings of several methods, and those that the goal's policy does not judge."""
    methods = sorted({point.setting.method for point in points})
    if len(methods) > 1 and methods != sorted((RWN.method, SoftRWN.method)):
        raise ParameterError(
            f"The sweep has settings of {', '.join(methods)}; seek among those of one method."
        )
    for point in points:
        if why := goal.keep.unjudged(point.setting.params):
            raise ParameterError(why)


@takes_tables
def seek(
    microdata: Microdata,
    points: Sequence[Point] | Sweep,
    goal: Goal,
    *,
    plan: Plan | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SearchAnswer:
    """Find the best setting that keeps all limits.

    Starts at the best point of a sweep that keeps them, then tries settings half a grid step away
    in every direction, goes to the best, halves the step, and so on; never beyond the least and the
    largest values of the sweep. A number that a setting lacks stays away. The answer is chosen on
    releases that had no part in the search, and read on others that had no part in choosing it.

    Parameters
    ----------
    microdata : Microdata
    points : Sweep or sequence of Point
        A finished sweep of one method on this table.
    goal : Goal
    plan : Plan, optional
        Releases and seed of the search; those of the sweep, which are the default where there is
        one, let luck cancel.
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with each answer so far that is better than those before.

    Returns
    -------
    SearchAnswer
        The same for any number of workers.

    Raises
    ------
    ParameterError
        There are no points to start from, they are of several methods, or there is no plan.
    RWNError
        A worker ended, for instance for lack of memory.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat").frame.iloc[:60, :5]
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))
    >>> plan = rwn.Plan(measures=("distance_linkage", "association_loss"), releases=2)
    >>> swept = rwn.sweep(data, rwn.Grid(axes={"k": (5, 40)}), plan=plan, workers=1)
    >>> goal = rwn.Goal(keep=policy, best="association_loss")
    >>> rwn.seek(data, swept, goal, workers=1).kept
    True
    """
    # the points to start from, and the plan of the search
    if isinstance(points, Sweep):
        plan = plan or points.plan
        points = points.points
    elif plan is None:
        raise ParameterError("Give the plan of the search, or a Sweep, which has one.")
    _refuse_start(points, goal)
    goal, unread = _judged(microdata, goal, points)
    known = {point.setting.key: point for point in points if goal.answers(point)}
    if not known:
        raise ParameterError(
            "No setting of the sweep has an answer for all measures of the goal; sweep with all of "
            f"them: {', '.join(goal.measures)}."
        )
    # half steps around the best setting, in rounds
    progress = Part(progress)
    plan = replace(plan, measures=goal.measures)
    steps = half_steps(points)
    share = 1 / (_ROUNDS + 1)
    farthest = [point.setting for point in points]
    found = progress.found
    reported = ""

    def tell() -> None:
        """Tell the best point whenever it is another one."""
        nonlocal reported
        best = _leader(known.values(), goal)
        n = microdata.n
        if best.setting.key != reported:
            reported = best.setting.key
            found(SearchAnswer.of_point(goal.keep, best, so_far=True, records=n, of=n))

    tell()
    with SettingPool(microdata, farthest, workers=thread_count(workers)) as crew:
        for number in range(_ROUNDS):
            current = _leader(known.values(), goal)
            wanted = [s for s in around(current.setting, steps) if s.key not in known]
            part = Part(progress, number * share, (number + 1) * share)
            for point in crew.points(wanted, plan, part):
                known[point.setting.key] = point
            tell()
            steps = {name: each._replace(size=each.size / 2) for name, each in steps.items()}
        answer = _verified(crew, known, goal, plan, Part(progress, 1 - share, 1.0))
    progress(1.0)
    return replace(answer, unread=unread)


def _verified(
    crew: SettingPool, known: Mapping[str, Point], goal: Goal, plan: Plan, progress: Progress
) -> SearchAnswer:
    """Read the best settings again, on releases that had no part in choosing them."""
    keeping = {key: point for key, point in known.items() if goal.excess(point) <= 0}
    margin = 0.0
    attempts = list[float]()

    def propose(failed: Point | None) -> Setting | None:
        """Return the best that keeps the limits by more than the seeds were kind to others."""
        nonlocal margin
        if failed is not None:
            more = goal.excess(failed) - goal.excess(keeping.pop(failed.setting.key))
            margin = max(margin, more if math.isfinite(more) else 0.0)  # only this one goes
        attempts.append(margin)
        left = [each for each in keeping.values() if goal.excess(each) <= -margin]
        left = left if len(attempts) <= _CANDIDATES else []
        return min(left, key=goal.loss).setting if left else None

    more = _LINKAGES if set(plan.measures) & set(_LINKAGES) else ()
    measures = tuple(dict.fromkeys((*plan.measures, *more)))
    first = replace(plan, releases=max(3 * plan.releases, 24))
    answer = replace(plan, measures=measures, releases=max(_STATED, plan.releases))
    nearest = min(known.values(), key=goal.excess).setting
    plans = Plans(first, answer)
    point, reached, _ = confirmed(crew, goal, plans, propose, lambda stated: nearest, progress)
    return SearchAnswer.of_point(goal.keep, point, reached=reached, tried=len(known))


def _leader(points: Collection[Point], goal: Goal) -> Point:
    """The best that keeps the limit; where none does, the one that comes closest."""
    keeping = [point for point in points if goal.excess(point) <= 0]
    return min(keeping, key=goal.loss) if keeping else min(points, key=goal.excess)


class Step(NamedTuple):
    """A step of a search along one number, and the ends of the sweep: others were not offered."""

    size: float
    low: float
    high: float


def half_steps(points: Sequence[Point]) -> dict[str, Step]:
    """For each number that the sweep varies, half its typical step."""
    steps: dict[str, Step] = {}
    every = [point.setting.params for point in points]
    for name in dict.fromkeys(each.name for each in chain.from_iterable(map(fields, every))):
        values = sorted({_number(getattr(p, name, None)) for p in every} - {None})
        if len(values) > 1:
            size = (values[-1] - values[0]) / (len(values) - 1) / 2
            steps[name] = Step(size, values[0], values[-1])
    return steps


def around(setting: Setting, steps: Mapping[str, Step]) -> list[Setting]:
    """The settings one step away, along the axes and between them."""
    made = []
    steps = {n: step for n, step in steps.items() if hasattr(setting.params, n)}
    for directions in product((-1, 0, 1), repeat=len(steps)):
        changes = {
            name: _moved(name, getattr(setting.params, name), direction, step)
            for (name, step), direction in zip(steps.items(), directions, strict=True)
        }
        try:
            params = replace(setting.params, **changes)
        except ParameterError:
            continue  # two numbers that the method does not allow together
        made.append(replace(setting, params=params))
    return list({each.key: each for each in made if each.key != setting.key}.values())


def _moved(name: str, value: object, direction: int, step: Step) -> object:
    number = _number(value)
    if number is None:
        return value  # a number that a setting lacks stays away
    integer = isinstance(number, int) and name not in _DIGITS
    size = step.size
    # a whole number moves by one at least, or small steps would not move it at all
    size = max(1, round(size)) if integer else size
    moved = min(max(number + direction * size, step.low), step.high)
    return moved if integer else round(float(moved), _DIGITS.get(name, 6))


def _number(value: object) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _judged(
    microdata: Microdata, goal: Goal, points: Sequence[Point]
) -> tuple[Goal, dict[str, str]]:
    """The goal with those limits of its policy that can be judged; why the others cannot."""
    unread = {}
    for key in goal.keep.measures:  # which may have no answer for any setting
        spreads = [point.spreads[key] for point in points if key in point.spreads]
        if spreads and all(spread.median is None for spread in spreads):
            unread[key] = str(spreads[0].reason)
    unread |= goal.keep.judgeable(microdata)[1]
    return replace(goal, keep=goal.keep.without(unread)), unread
