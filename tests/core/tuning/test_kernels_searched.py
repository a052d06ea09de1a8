"""Searches over kernels: soft and balanced neighborhoods take part, beside RWN as published."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core import Goal, Grid, ParameterError, Plan, SearchAnswer, Setting, frontier, seek, sweep
from rwn_core.tuning import Point
from rwn_core.tuning.goal_seek import around, half_steps
from rwn_core.tuning.seek_slices import each_kernel, seek_slices
from rwn_core.tuning.slice_presets import SliceRanges
from tests.core.tuning.test_goal_of_a_policy import policy

BOTH = policy(distance_linkage=0.08, true_matches=0.1)
RANGES = SliceRanges(strengths=(2.0, 3.0, 4.0, 6.0), tries=30, weights=False, kernels=True)


@pytest.fixture(scope="module")
def answer(few: rwn.Microdata) -> SearchAnswer:
    return seek_slices(few, BOTH, ranges=RANGES, workers=1)


def test_a_soft_kernel_leads_where_it_loses_less(few, answer) -> None:
    assert answer.reached
    assert answer.point.setting.params.kernel == "gaussian"
    even = seek_slices(few, BOTH, ranges=replace(RANGES, kernels=False), workers=1)
    assert even.point.setting.method == "rwn"
    found, best = (each.point.median("association_loss") for each in (answer, even))
    assert found < best


def test_every_kernel_has_the_other_options_of_the_start() -> None:
    start = rwn.RWN(epsilon=2.0, k=7, q=0.8, encoding="matching", outside_household=True)
    even, soft, balanced = each_kernel(start)
    assert even == start
    assert soft == rwn.SoftRWN(
        kernel="gaussian", q=0.8, encoding="matching", outside_household=True
    )
    assert balanced == replace(soft, balance=1.0)
    own = rwn.SoftRWN(kernel="exponential", own=True, balance=0.5)
    assert each_kernel(own)[1:] == (replace(own, balance=0.0), replace(own, balance=1.0))
    assert each_kernel(own)[0] == rwn.RWN(epsilon=1.0, k=5)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (rwn.METHODS["nbrs2015"](epsilon=1.0), "rwn only"),
        (rwn.RWN(k=5, neighbors="pairs", m=20), "neighbors to be exact"),
    ],
)
def test_what_has_no_soft_kernel_is_refused(few, params, words) -> None:
    with pytest.raises(ParameterError, match=words):
        seek_slices(few, BOTH, setting=Setting(params=params), ranges=RANGES, workers=1)


PLAN = Plan(measures=("association_loss", "distance_linkage"), releases=4)
GRIDS = (
    Grid(axes={"epsilon": (2.0, 4.0, 6.0), "k": (5,)}),
    Grid(axes={"kernel": ("gaussian",), "width": (0.25, 0.5, 1.0), "balance": (0.0, 1.0)}),
)


def test_a_sweep_of_kernels_has_one_frontier_and_one_goal(few, short) -> None:
    swept = sweep(few, GRIDS, plan=PLAN, workers=1)
    assert len(swept.points) == 9
    front = frontier(swept.points, "distance_linkage", "association_loss")
    assert front
    goal = Goal(keep=policy(distance_linkage=0.1), best="association_loss")
    found = seek(few, swept, goal, workers=1)
    assert found.reached
    assert 0.25 <= (found.point.setting.params.width or 1.0) <= 1.0
    keeping = [point for point in swept.points if goal.excess(point) <= 0]
    best = min(goal.loss(point) for point in keeping)
    assert goal.loss(found.point) < 1.2 * best


def test_steps_of_several_kernels_stay_within_each() -> None:
    made = [setting for grid in GRIDS for setting in grid.settings()]
    steps = half_steps([Point(setting=each, spreads={}) for each in made])
    assert set(steps) == {"epsilon", "width", "balance"}  # k is one number
    for setting in made:
        for near in around(setting, steps):
            params = near.params
            assert params.method == setting.method
            if params.method == "rwn":
                assert 2.0 <= (params.epsilon or 2.0) <= 6.0
            else:
                assert 0.25 <= params.width <= 1.0
                assert 0.0 <= params.balance <= 1.0
    soft = rwn.Setting.of("rwn", {"kernel": "gaussian", "width": 0.5, "balance": 1.0})
    reached = {(each.params.width, each.params.balance) for each in around(soft, steps)}
    assert (0.3125, 0.5) in reached
