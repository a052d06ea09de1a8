"""The smallest width of a kernel at which certified linkage keeps its limit, by halves.

The bound falls and the loss grows with the width, so the smallest width is the best. Its number
is known before a release is drawn, so that few are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from statistics import fmean

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.certified_forecast import ROWS
from rwn_core.masking import Masked
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.certified_linkage import left_words, relations_left
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import CERTIFIED, Plan, Trials
from rwn_core.tuning.goal import Goal, GoalAnswer
from rwn_core.tuning.point import Point, Setting, Spread

STEP = 0.05  # of the widths that are tried
BESIDE = ("attribute_gain", "true_matches", "bayes_linkage")  # what the bound does not cover


def is_of_width(goal: Goal, settings: Sequence[Setting]) -> bool:
    """True if certified linkage is the only limit, and settings differ in a kernel's width only."""
    if goal.kept != (CERTIFIED,) or len(settings) < 2:
        return False
    kinds = {_at(setting, 1.0).key for setting in settings if _width(setting) is not None}
    return len(kinds) == 1 and all(_width(setting) is not None for setting in settings)


def seek_width(
    microdata: Microdata,
    settings: Sequence[Setting],
    goal: Goal,
    *,
    plan: Plan,
    progress: Progress | None = None,
) -> GoalAnswer:
    """Find the smallest width between those of some settings that keeps certified linkage."""
    widths = [width for setting in settings if (width := _width(setting)) is not None]
    low, high = min(widths), max(widths)
    positions = ceil((high - low) / STEP - 1e-9)
    made = [_at(settings[0], _nth(low, high, place)) for place in (0, positions)]
    trials = Trials(microdata, made, replace(plan, measures=(CERTIFIED,)))
    known: dict[int, Point] = {}

    def keeps(place: int, rows: int = ROWS) -> bool:
        setting = _at(settings[0], _nth(low, high, place))
        known[place] = _forecast(trials.certified(setting, rows), setting)
        if progress is not None:
            progress(min(0.1 * len(known), 0.8))
        return goal.excess(known[place]) <= 0

    best, reached = positions, keeps(positions)
    below = -1
    while reached and best - below > 1:
        middle = (best + below) // 2
        if keeps(middle):
            best = middle
        else:
            below = middle
    if microdata.n > LARGEST_DENSE:  # some rows of each draw found the width, all confirm it
        while reached and not keeps(best, microdata.n) and best < positions:
            best += 1
        reached = goal.excess(known[best]) <= 0
    point, words = _stated(microdata, trials, known[best], goal, plan)
    if progress is not None:
        progress(1.0)
    return GoalAnswer(goal=goal, point=point, reached=reached, tried=len(known), note=words)


def _forecast(reading: Reading | NotApplicable, setting: Setting) -> Point:
    """Return a point with the forecast of a setting; refuse one that certifies nothing."""
    if isinstance(reading, NotApplicable):
        raise ParameterError(reading.reason)
    spread = Spread(measure=CERTIFIED, values=(reading.value,), baseline=reading.baseline)
    return Point(setting=setting, spreads={CERTIFIED: spread})


def _stated(
    microdata: Microdata, trials: Trials, found: Point, goal: Goal, plan: Plan
) -> tuple[Point, str]:
    """Read the measures of an answer, and say what is left of the relations across slices."""
    original, left = found.setting.applied_to(microdata), list[float]()
    untouched = Comparison(original=original, masked=original)

    def look(release: Masked) -> None:
        slices = release.law.units() if release.law is not None else []
        share = relations_left(untouched.with_masked(release.masked), slices)
        left.extend([] if share is None else [share])

    trials.plan = replace(plan, measures=(goal.best,))
    drawn = trials.run(found.setting, look=look)
    trials.plan = replace(plan, measures=BESIDE, releases=1)
    others = trials.run(found.setting)
    spreads = {**found.spreads, **drawn.spreads, **others.spreads}
    seconds = drawn.seconds + others.seconds
    words = left_words(fmean(left) if left else None)
    return replace(drawn, spreads=spreads, seconds=seconds), words


def _nth(low: float, high: float, place: int) -> float:
    return min(round(low + STEP * place, 6), high)


def _width(setting: Setting) -> float | None:
    width: float | None = getattr(setting.params, "width", None)
    return width


def _at(setting: Setting, width: float) -> Setting:
    return replace(setting, params=replace(setting.params, width=width))
