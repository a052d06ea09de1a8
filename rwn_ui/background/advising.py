"""Finds advice on a table in a process: a start, and whether a setting can keep the policy."""

from __future__ import annotations

from dataclasses import replace

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.processes import Report
from rwn_core.tuning import QuickVerdict, Recommendation, Setting, quick_verdict, recommend
from rwn_core.tuning.policy_presets import policy_presets
from rwn_core.tuning.quick_verdict import next_steps

Presets = dict[str, dict[str, float]]
Advice = tuple[Recommendation | None, QuickVerdict, Presets]


def find_advice(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    setting: Setting,
    known: Recommendation | None,
    progress: Report,
) -> Advice:
    """Return the recommended start of a table, and verdict and presets of a kind of setting.

    The verdict is published first: a start that is not known yet is tried on all records of a
    small table, which takes longer.
    """
    verdict = quick_verdict(microdata, setting, policy)
    progress(0.2)
    progress.found((known, verdict, {}))
    small = microdata.n <= LARGEST_DENSE  # a release of a larger table is judged in minutes
    presets = policy_presets(microdata, setting, policy) if small else {}
    progress(0.4)
    start = known or recommend(microdata, policy)
    if verdict.next_steps:
        verdict = replace(verdict, next_steps=next_steps(microdata, setting, policy, start))
    return start, verdict, presets
