"""Tuning: try many settings, find those worth a thought, and say what a search costs."""

from rwn_core.tuning.evaluate_settings import Plan, Trials
from rwn_core.tuning.frontier import frontier
from rwn_core.tuning.goal import Goal, GoalAnswer
from rwn_core.tuning.goal_seek import seek
from rwn_core.tuning.grid import Grid, parse_values
from rwn_core.tuning.point import Point, Spread
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.quick_verdict import NextStep, QuickVerdict, quick_verdict
from rwn_core.tuning.recommend import Recommendation, recommend
from rwn_core.tuning.seek_slices import seek_slices
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_answer import SliceAnswer, SliceRanges
from rwn_core.tuning.sweep import USUAL, prepared, sweep
from rwn_core.tuning.sweep_folder import JobFolder, job_name
from rwn_core.tuning.sweep_processes import SweepRun
from rwn_core.tuning.sweep_result import Sweep
from rwn_core.tuning.verdict import Verdict

__all__ = [
    "USUAL",
    "Goal",
    "GoalAnswer",
    "Grid",
    "JobFolder",
    "Limit",
    "NextStep",
    "Plan",
    "Point",
    "Policy",
    "QuickVerdict",
    "Recommendation",
    "Setting",
    "SliceAnswer",
    "SliceRanges",
    "Spread",
    "Sweep",
    "SweepRun",
    "Trials",
    "Verdict",
    "frontier",
    "job_name",
    "parse_values",
    "prepared",
    "quick_verdict",
    "recommend",
    "seek",
    "seek_slices",
    "sweep",
]
