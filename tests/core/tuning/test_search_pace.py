"""How far a search is: never backwards, and about as far as its readings."""

from __future__ import annotations

from itertools import pairwise

import pytest

import rwn_core as rwn
from rwn_core.tuning import Plan
from rwn_core.tuning.evaluate_settings import Trials
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.seek_slices import seek_slices
from rwn_core.tuning.setting_pool import SettingPool
from rwn_core.tuning.slice_answer import SliceRanges

POLICY = Policy(limits=(Limit(measure="distance_linkage", at_most=0.05),))
STRENGTHS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


@pytest.mark.parametrize("weights", [False, True])
def test_its_share_grows_as_its_readings_do(few, small, monkeypatch, weights) -> None:
    """Formerly trials alone were counted: checks on fresh releases took half of the time unseen."""
    made, told = [0], [(0, 0.0)]
    run = Trials.run

    def counted(self: Trials, setting: object, tick: object = None) -> object:
        made[0] += self.plan.releases * len(self.plan.measures)
        return run(self, setting, tick)

    monkeypatch.setattr(Trials, "run", counted)
    ranges = SliceRanges(strengths=STRENGTHS, tries=40, weights=weights)
    seek_slices(
        small if weights else few,
        POLICY,
        ranges=ranges,
        workers=1,
        progress=lambda share: told.append((made[0], share)),
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    before = [(done / made[0], share) for done, share in told[:-1]]
    assert max(abs(share - true) for true, share in before) < 0.4
    steps = [later - sooner for sooner, later in pairwise(shares)]
    assert max(steps) < 0.35, "it does not jump, and the end comes where it was expected"


def test_a_check_of_one_setting_tells_how_far_it_is() -> None:
    data = rwn.load_demo("bodyfat")
    settings = [rwn.Setting.of("rwn", {"k": 3})]
    plan, told = Plan(measures=("correlation",), releases=30), list[float]()
    with SettingPool(data, settings, plan, workers=1) as crew:
        crew.points(settings, plan, told.append)
    assert len(told) >= 5
