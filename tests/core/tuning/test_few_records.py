"""A setting that releases hardly any record keeps no policy, and is never the best one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core import Goal, Grid, Plan, Policy, Setting, frontier, seek, sweep
from rwn_core.tuning import Point, Sweep
from tests.core.tuning.test_goal_of_a_policy import policy

PLAN = Plan(measures=("correlation", "distance_linkage"), releases=2)
POLICY = Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.3),))
FEW, MANY = 1.0, 6.0  # radii that reach hardly anybody, and nearly everybody


@pytest.fixture(scope="module")
def swept(bodyfat) -> Sweep:
    grid = Grid(axes={"epsilon": (FEW, MANY), "q": (1.0,)}, method="nbrs2015")
    return sweep(bodyfat, grid, plan=PLAN, workers=1)


def test_a_point_knows_how_many_records_it_releases(bodyfat, swept) -> None:
    few, many = swept.points
    release = rwn.mask(bodyfat, few.setting.params, seed=1).masked.frame
    assert few.shown[0] == pytest.approx(1 - release.isna().all(axis=1).mean())
    assert (few.few, many.few) == (True, False)
    assert 0 < few.released < 0.1 < 0.9 < many.released
    assert Point.from_dict(few.to_dict()).shown == few.shown
    shown = swept.frame().groupby("epsilon")["records_released"].first()
    assert shown.tolist() == [few.released, many.released]


def test_it_keeps_no_policy_and_the_sweep_says_why(swept) -> None:
    few, many = swept.points
    verdict = POLICY.judge(few)
    assert (verdict.broken, verdict.unread, verdict.kept) == ((), {}, False)
    assert verdict.sentence.endswith("of the records are released.")
    assert POLICY.judge(many).kept
    assert swept.words(POLICY) == (
        "1 of 2 settings keep all limits. 1 setting releases fewer than 50 % of the records, which "
        "keeps no policy; choose one that releases more."
    )
    strict = Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.0001),))
    assert f"nearest is {many.setting.words}" in swept.words(strict)
    alone = replace(swept, points=(many,))
    assert alone.words(POLICY) == "1 of 1 setting keeps all limits."


def test_goal_seek_does_not_propose_it(bodyfat, swept, short) -> None:
    found = seek(bodyfat, swept, Goal(keep=POLICY, best="distance_linkage"), workers=1)
    assert found.reached
    assert not found.point.few
    alone = Sweep(plan=PLAN, points=swept.points[:1])
    none = seek(bodyfat, alone, Goal(keep=POLICY, best="correlation"), workers=1)
    assert not none.reached
    assert "too few records" in none.sentence
    back = Goal(keep=policy(correlation=0.5), best="distance_linkage")
    assert not seek(bodyfat, alone, back, workers=1).reached


def test_a_sample_is_as_small_as_was_asked() -> None:
    setting = Setting(params=rwn.METHODS["sampling"](left_out=0.8))
    assert not Point(setting=setting, spreads={}, shown=(0.2,)).few


def test_it_is_on_no_frontier(swept) -> None:
    assert frontier(swept.points, "correlation", "distance_linkage") == [swept.points[1]]
