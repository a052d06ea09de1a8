"""Finds a sweep's frontier, and the few of its points that a small map can show."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.measures import UTILITY
from rwn_core.tuning import Point, Sweep
from rwn_core.tuning.frontier import sign, undominated
from rwn_ui.features.axis_choice import POLICY
from rwn_ui.state.results import memo
from rwn_ui.state.work import user_work

MOST = 150  # settings on a small map, beside the frontier


def place(policy: rwn.Policy, point: Point, key: str) -> float | None:
    """Position of a setting on an axis; on the policy's, at the judged bound."""
    return policy.judge_point(point).largest if key == POLICY else point.median(key)


def best(policy: rwn.Policy, sweep: Sweep, x: str, y: str) -> set[str]:
    """The keys of the settings on the frontier; none if a measure has no better side."""
    try:
        signs = [1.0 if key == POLICY else sign(key) for key in (x, y)]
    except ParameterError:
        return set()
    placed = (
        (signs[0] * across, signs[1] * up, point)
        for point in sweep
        if (across := place(policy, point, x)) is not None
        and (up := place(policy, point, y)) is not None
    )
    return {point.setting.key for point in undominated(placed)}


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
