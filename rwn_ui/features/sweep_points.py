"""Finds the few points of a sweep that a small map can show."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.reporting.places_on_map import POLICY, best, place
from rwn_core.tuning import Sweep
from rwn_ui.state.results import memo
from rwn_ui.state.work import user_work

MOST = 150  # settings on a small map, beside the frontier


def small_map(policy: rwn.Policy, risk: str) -> list[dict[str, Any]]:
    """Points of this user's sweep, where it read the loss of relations and this risk."""
    run = user_work().sweep
    needed = {UTILITY, *(policy.measures if risk == POLICY else (risk,))}
    if run is None or not needed <= set(run.plan.measures):
        return []
    sweep = run.sweep()
    every = max(1, sweep.wanted // 20) if run.running else 1  # a slider move must stay cheap
    key = (id(run), len(sweep) // every, risk, policy)
    return memo("sweep points", 8).get_or_make(key, lambda: _few(policy, sweep, risk))


def _few(policy: rwn.Policy, sweep: Sweep, risk: str) -> list[dict[str, Any]]:
    """The frontier, and so many other settings as a small map can show."""
    kept = best(policy, sweep, UTILITY, risk)
    others = [p for p in sweep if p.setting.key not in kept]
    shown = [p for p in sweep if p.setting.key in kept]
    shown += others[:: max(1, len(others) // MOST)]
    return [
        {
            "label": "",
            "loss": p.median(UTILITY),
            "risk": place(policy, p, risk),
            "text": p.setting.words,
            "frontier": p.setting.key in kept,
        }
        for p in shown
    ]
