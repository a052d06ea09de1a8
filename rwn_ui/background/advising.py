"""What processes find on a table: a start, a search's settings, the verdict on one more release.

Nothing of the pages is imported: a process begins with each move that is judged by further draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import rwn_core as rwn
from rwn_core.compile_ahead import warm_for_limits
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.processes import Report
from rwn_core.tuning import (
    Point,
    SearchAnswer,
    Setting,
    Space,
    Verdict,
    quick_verdict,
    recommend,
    search,
)
from rwn_core.tuning.recommend import USED, policy_presets, suggest
from rwn_core.tuning.remedies import remedied, with_known_remedies, with_remedies
from rwn_core.tuning.several_draws import read_draws, verdict_of

Presets = dict[str, Setting]
Advice = tuple[SearchAnswer | None, SearchAnswer, Presets]
Judged = tuple[Point | None, Verdict]


def find_advice(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    setting: Setting,
    known: SearchAnswer | None,
    presets: Presets,
    progress: Report,
) -> Advice:
    """Return the start of a table within epsilon and k, its strengths, and a verdict.

    Of a method other than RWN the strengths are its own.
    A verdict of a few seconds is published first, then the start, which is a *no*'s first step,
    then a verdict that takes as long as it needs, where the first one could not say, and last what
    else helps.
    """
    warm_for_limits()
    small = microdata.n <= LARGEST_DENSE  # a release of a larger table is judged in minutes
    verdict = quick_verdict(microdata, setting, policy, steps=False)
    progress.found((known, verdict, presets))
    progress(0.2)
    own = setting.method not in (rwn.RWN.method, rwn.SoftRWN.method)
    if own and small:
        presets = policy_presets(microdata, setting, policy)
    progress(0.4)
    start = known or recommend(microdata, policy, levers=True)
    verdict = with_known_remedies(verdict, microdata, setting, policy, start)
    progress.found((start, verdict, presets))
    if known is None:  # what leaves more beyond them
        start = suggest(microdata, policy)
        verdict = with_known_remedies(verdict, microdata, setting, policy, start)
        progress.found((start, verdict, presets))
    if not own and not presets:
        found = policy_presets(microdata, start.point.setting, policy) if small else {}
        found |= {"Standard": start.point.setting} if start.reached else {}
        presets = {name: found[name] for name in USED if name in found}
    if small and verdict.answer == "unknown" and verdict.setting is None:
        verdict = quick_verdict(microdata, setting, policy, within=math.inf, steps=False)
        progress.found((start, verdict, presets))
    progress.found((start, verdict, presets))
    verdict = with_remedies(verdict, microdata, setting, policy, start)
    return start, verdict, presets


def find_settings(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    space: Space,
    seconds: float,
    progress: Report,
) -> SearchAnswer:
    """Return the answer of a search, with what helps where it found nothing."""
    warm_for_limits()
    answer = search(microdata, policy, space, seconds=seconds, progress=progress)
    return remedied(answer, microdata, policy, space, seconds)


def judge_draws(
    microdata: rwn.Microdata,
    setting: Setting,
    policy: rwn.Policy,
    progress: Callable[[float], None] | None = None,
) -> Judged:
    """Read further draws of a setting, and judge one more release; the work of a process."""
    warm_for_limits()
    point = read_draws(microdata, setting, policy, progress)
    return point, verdict_of(microdata, policy, point)
