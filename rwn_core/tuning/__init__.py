"""Tuning: try many settings, find those worth a thought, and say what a search costs."""

from typing import Any

from rwn_core.moved_names import has_moved, moved
from rwn_core.tuning.answer import FoundSetting as FoundSetting
from rwn_core.tuning.answer import SearchAnswer as SearchAnswer
from rwn_core.tuning.evaluate import Plan as Plan
from rwn_core.tuning.evaluate import evaluate as evaluate
from rwn_core.tuning.goal import Goal as Goal
from rwn_core.tuning.goal import frontier as frontier
from rwn_core.tuning.goal_seek import seek as seek
from rwn_core.tuning.named_policies import NAMED_POLICIES as NAMED_POLICIES
from rwn_core.tuning.named_policies import NamedPolicy as NamedPolicy
from rwn_core.tuning.named_policies import policy_called as policy_called
from rwn_core.tuning.point import Point as Point
from rwn_core.tuning.point import Setting as Setting
from rwn_core.tuning.point import Spread as Spread
from rwn_core.tuning.policy import Limit as Limit
from rwn_core.tuning.policy import Policy as Policy
from rwn_core.tuning.quick_verdict import quick_verdict as quick_verdict
from rwn_core.tuning.recommend import recommend as recommend
from rwn_core.tuning.search import Space as Space
from rwn_core.tuning.search import search as search
from rwn_core.tuning.seek_slices import seek_slices as seek_slices
from rwn_core.tuning.several_draws import judge_setting as judge_setting
from rwn_core.tuning.slice_presets import SliceRanges as SliceRanges
from rwn_core.tuning.sweep import USUAL as USUAL
from rwn_core.tuning.sweep import Grid as Grid
from rwn_core.tuning.sweep import Sweep as Sweep
from rwn_core.tuning.sweep import parse_values as parse_values
from rwn_core.tuning.sweep import prepared as prepared
from rwn_core.tuning.sweep import sweep as sweep
from rwn_core.tuning.verdict import Verdict as Verdict


def __getattr__(name: str) -> Any:
    """Return a name of the version before, or say what it is now."""
    if has_moved(f"{__name__}.{name}"):
        return moved(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
