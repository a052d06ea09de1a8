"""Finds advice on a table in a process: a start, and whether a setting can keep the policy."""

from __future__ import annotations

import math

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.processes import Report
from rwn_core.tuning import SearchAnswer, Setting, quick_verdict, recommend
from rwn_core.tuning.quick_verdict import with_next_steps
from rwn_core.tuning.recommend import policy_presets

Presets = dict[str, dict[str, float]]
Advice = tuple[SearchAnswer | None, SearchAnswer, Presets]


def find_advice(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    setting: Setting,
    known: SearchAnswer | None,
    progress: Report,
) -> Advice:
    """Return the recommended start of a table, and verdict and presets of a kind of setting.

    A verdict of a few seconds is published first, then one that takes as long as it needs: a
    start that is not known yet is tried on all records of a small table, which takes longer.
    """
    small = microdata.n <= LARGEST_DENSE  # a release of a larger table is judged in minutes
    verdict = quick_verdict(microdata, setting, policy, steps=False)
    progress.found((known, verdict, {}))
    if small and verdict.answer == "unknown" and verdict.setting is None:
        verdict = quick_verdict(microdata, setting, policy, within=math.inf, steps=False)
        progress.found((known, verdict, {}))
    progress(0.2)
    presets = policy_presets(microdata, setting, policy) if small else {}
    progress(0.4)
    start = known or recommend(microdata, policy)
    if verdict.setting is None:
        progress.found((start, verdict, presets))
        verdict = with_next_steps(verdict, microdata, setting, policy, start)
    return start, verdict, presets
