"""Finds advice on a table in a process: a start, and whether a setting can keep the policy."""

from __future__ import annotations

from collections.abc import Callable

import rwn_core as rwn
from rwn_core.parallel.processes import be_polite
from rwn_core.tuning import QuickVerdict, Recommendation, Setting, quick_verdict, recommend


def find_advice(
    *,
    microdata: rwn.Microdata,
    policy: rwn.Policy,
    setting: Setting,
    progress: Callable[[float], None],
) -> tuple[Recommendation, QuickVerdict]:
    """Return the recommended start of a table, and the quick verdict on a setting."""
    be_polite()  # a slider that moves meanwhile comes first
    start = recommend(microdata, policy)
    progress(0.5)
    return start, quick_verdict(microdata, setting, policy)
