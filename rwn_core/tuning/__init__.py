"""Tuning: try many settings, find those worth a thought, and say what a search costs."""

from rwn_core.tuning.folder import JobFolder, job_name
from rwn_core.tuning.goal import Found, Goal, seek
from rwn_core.tuning.grid import Grid, values_of
from rwn_core.tuning.non_dominated import frontier
from rwn_core.tuning.point import Point, Spread, prediction_interval
from rwn_core.tuning.result import Sweep
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.sweeping import USUAL, prepared, sweep
from rwn_core.tuning.trials import Plan, Trials
from rwn_core.tuning.workers import Run

__all__ = [
    "USUAL",
    "Found",
    "Goal",
    "Grid",
    "JobFolder",
    "Plan",
    "Point",
    "Run",
    "Setting",
    "Spread",
    "Sweep",
    "Trials",
    "frontier",
    "job_name",
    "prediction_interval",
    "prepared",
    "seek",
    "sweep",
    "values_of",
]
