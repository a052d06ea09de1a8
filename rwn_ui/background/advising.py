"""Finds advice on a table in a process: a start, and whether a setting can keep the policy."""

from __future__ import annotations

from collections.abc import Callable

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.processes import be_polite
from rwn_core.tuning import QuickVerdict, Recommendation, Setting, quick_verdict, recommend
from rwn_core.tuning.policy_presets import policy_presets

Presets = dict[str, dict[str, float]]


def find_advice(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    setting: Setting,
    progress: Callable[[float], None],
) -> tuple[Recommendation, QuickVerdict, Presets]:
    """Return the recommended start of a table, and verdict and presets of a kind of setting."""
    be_polite()  # a slider that moves meanwhile comes first
    start = recommend(microdata, policy)
    progress(0.4)
    verdict = quick_verdict(microdata, setting, policy)
    progress(0.8)
    small = microdata.n <= LARGEST_DENSE  # a release of a larger table is judged in minutes
    return start, verdict, policy_presets(microdata, setting, policy) if small else {}
