"""Finds a sweep's frontier, and the few of its points that a small map can show."""

from __future__ import annotations

from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.tuning import Sweep, frontier
from rwn_ui.state.results import memo
from rwn_ui.state.work import own_work

MOST = 150  # settings on a small map, beside the frontier


def best(sweep: Sweep, x: str, y: str) -> set[str]:
    """The keys of the settings on the frontier; none if a measure has no better side."""
    try:
        return {point.setting.key for point in frontier(sweep.points, x, y)}
    except ParameterError:
        return set()


def small_map(risk: str) -> list[dict[str, Any]]:
    """Points of this user's sweep, where it read the correlations and this risk."""
    run = own_work().sweep
    if run is None or not {"correlation", risk} <= set(run.plan.measures):
        return []
    sweep = run.sweep()
    every = max(1, sweep.wanted // 20) if run.running else 1  # a slider move must stay cheap
    key = (id(run), len(sweep) // every, risk)
    return memo("sweep points", 8).once(key, lambda: _few(sweep, risk))


def _few(sweep: Sweep, risk: str) -> list[dict[str, Any]]:
    """The frontier, and so many other settings as a small map can show."""
    kept = best(sweep, "correlation", risk)
    others = [p for p in sweep if p.setting.key not in kept]
    shown = [p for p in sweep if p.setting.key in kept]
    shown += others[:: max(1, len(others) // MOST)]
    return [
        {
            "label": "",
            "utility": None if (loss := p.median("correlation")) is None else 1 - loss,
            "risk": p.median(risk),
            "text": p.setting.words,
            "frontier": p.setting.key in kept,
        }
        for p in shown
    ]
