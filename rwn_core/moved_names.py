"""Public names of the version before that moved: each still resolves, or says what it is now.

The table "Names that moved" of the changelog lists them; a test holds the two together.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, NoReturn

ALIASES = {
    "rwn_core.SliceAnswer": "rwn_core.SearchAnswer",
    "rwn_core.QuickVerdict": "rwn_core.SearchAnswer",
    "rwn_core.Recommendation": "rwn_core.SearchAnswer",
    "rwn_core.tuning.SliceAnswer": "rwn_core.tuning.SearchAnswer",
    "rwn_core.tuning.GoalAnswer": "rwn_core.tuning.SearchAnswer",
    "rwn_core.tuning.QuickVerdict": "rwn_core.tuning.SearchAnswer",
    "rwn_core.tuning.Recommendation": "rwn_core.tuning.SearchAnswer",
}
"""Names that resolve for one version, with a DeprecationWarning."""

INSTEAD = {
    "rwn_core.tune": "rwn_ui.notebook.tune",
    "rwn_core.forecast": "rwn_core.ensemble",
    "rwn_core.forecast_scan": "rwn_core.ensemble",
    "rwn_core.Forecast": "rwn_core.Ensemble",
    "rwn_core.expected_curve": "rwn_core.ensemble",
    "rwn_core.Statistic": "rwn_core.ensemble",
    "rwn_core.tuning.SweepRun": "rwn_core.sweep",
    "rwn_core.tuning.JobFolder": "rwn_core.sweep(folder=...)",
    "rwn_core.tuning.job_name": "rwn_core.sweep(folder=...)",
    "rwn_core.tuning.Trials": "rwn_core.tuning.evaluate",
    "rwn_core.neighbors.find_strictly": "rwn_core.find_neighborhoods(..., strict=True)",
    "rwn_core.neighbors.find_and_draw": "rwn_core.draw_donors",
    "rwn_core.neighbors.Drawing": "rwn_core.Draws",
    "rwn_core.Policy.judge_point": "rwn_core.Policy.judge",
    "rwn_core.Policy.judge_readings": "rwn_core.Policy.judge",
    "rwn_core.Policy.judge_stated": "rwn_core.Policy.judge",
    "rwn_core.RWN.neighborhoods": "rwn_core.find_neighborhoods",
    "rwn_core.RowCopy.neighborhoods": "rwn_core.find_neighborhoods",
    "rwn_core.Neighborhoods.donors": "rwn_core.draw_donors",
    "rwn_core.Draws.modify": "rwn_core.draw_donors",
    "rwn_core.Draws.ranks": "rwn_core.draw_donors",
}
"""Names that are gone, and what does their work now."""

MEASURES_INSTEAD = {
    "closest_record": "nearest_distance",
    "loadings": "principal_components",
    "r_squared": "regression",
    "wasserstein": "quantiles",
}
"""Measures that are gone, and which one to read."""


def moved(name: str) -> Any:
    """Return what a public name of a module is now; AttributeError says what to write instead."""
    refuse_moved(name)
    now = ALIASES[name]
    warnings.warn(f"{name} is {now} now; write that.", DeprecationWarning, stacklevel=3)
    module, _, last = now.rpartition(".")
    return getattr(import_module(module), last)


def has_moved(name: str) -> bool:
    """True if a public name of a module was one in the version before."""
    return name in ALIASES or name in INSTEAD


def refuse_moved(name: str) -> None:
    """Say in one sentence what does the work of a name that is gone; nothing of any other name."""
    if name in INSTEAD:
        raise AttributeError(f"{name} is gone; write {INSTEAD[name]}.")


class MovedAttribute:
    """An attribute of a public class that is gone: to ask for it says what to write."""

    def __init__(self, now: str) -> None:
        self._now = now

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name."""
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        """Say what to write instead, of a class or of one of its objects."""
        raise AttributeError(f"rwn_core.{owner.__name__}.{self._name} is gone; write {self._now}.")
