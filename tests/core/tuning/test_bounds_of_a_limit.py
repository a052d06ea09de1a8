"""Where a worst case is known between bounds, the lower breaks a limit and the upper keeps it."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.measures.measure import Detail, Reading
from rwn_core.tuning import Goal, Point, Setting
from rwn_core.tuning.evaluate import _joined, spread_over_releases
from rwn_core.tuning.point import Spread
from rwn_core.tuning.policy import Limit, Policy
from tests.core.tuning.test_goal_of_a_policy import policy

KEY = "bayes_linkage"
POLICY = Policy(limits=(Limit(measure=KEY, at_most=0.05),))


def reading(value: float, at_most: float | None, estimate: float | None = None) -> Reading:
    detail = Detail(standing="at least", at_most=at_most, estimate=estimate)
    return Reading(value=value, detail=detail)


def point(*readings: Reading) -> Point:
    spread = spread_over_releases(KEY, readings)
    return Point(setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads={KEY: spread})


KNOWN = [
    # lower bound, upper bound, estimate: kept, broken, the judged number and its name
    (0.01, 0.04, None, True, False, 0.04, "Linkage, estimated at most"),
    (0.01, 0.06, None, False, False, None, "Linkage, at least"),
    (0.01, None, None, False, False, None, "Linkage, at least"),
    (0.07, 0.09, None, False, True, 0.07, "Linkage, at least"),
    (0.01, 0.09, 0.08, False, True, 0.08, "Linkage, an estimate"),
]


@pytest.mark.parametrize("known", KNOWN)
def test_which_bound_decides(known):
    low, high, estimate, kept, broken, value, title = known
    verdict = POLICY.judge({KEY: reading(low, high, estimate)})
    assert (verdict.kept, bool(verdict.broken)) == (kept, broken)
    assert verdict.values.get(KEY) == value
    assert verdict.title(KEY) == title
    if value is not None:
        assert verdict.largest == pytest.approx(value / 0.05)
        plain = title.removesuffix(", at least")
        least = "at least " * (plain != title)
        assert f"{plain}, which uses {least}" in verdict.sentence
    elif high is not None:
        assert "two bounds" in verdict.unread[KEY]
        assert f"{title} not judged: " in verdict.sentence
    else:
        assert "Only a lower bound" in verdict.unread[KEY]


def test_a_worst_case_is_judged_by_itself():
    found = Reading(value=0.04, detail=Detail(standing="worst", at_most=0.04))
    verdict = POLICY.judge({KEY: found})
    assert verdict.kept
    assert verdict.title(KEY) == "Worst-case linkage"


def test_a_setting_is_judged_by_the_upper_bounds_of_its_releases():
    readings = [reading(0.01, 0.030), reading(0.02, 0.032), reading(0.01, 0.031)]
    found = point(*readings)
    verdict = POLICY.judge(found)
    assert verdict.kept
    assert 0.032 < verdict.values[KEY] < 0.05
    assert not POLICY.judge(point(*readings, reading(0.01, 0.06))).kept
    # one release without an upper bound leaves the setting without
    assert not POLICY.judge(point(*readings, reading(0.01, None))).kept
    assert POLICY.judge(point(*[reading(0.06, 0.07)] * 3)).broken == (KEY,)


def test_what_is_saved_of_a_setting_is_read_again():
    found = point(reading(0.01, 0.03), reading(0.02, 0.04))
    assert Point.from_dict(found.to_dict()) == found
    older = found.to_dict()
    del older["readings"][KEY]["upper"]
    again = Point.from_dict(older)
    assert again.spreads[KEY].is_bound
    assert again.spreads[KEY].upper == ()
    assert not POLICY.judge(again).kept


def test_medians_of_lower_bounds_keep_no_limit_of_a_scenario():
    for readings in ([reading(0.01, None)] * 3, [reading(0.01, 0.09)] * 3):
        verdict = POLICY.judge(point(*readings).stated())
        assert not verdict.kept
        assert not verdict.broken
    verdict = POLICY.judge(point(*[reading(0.01, 0.03)] * 3).stated())
    assert verdict.kept
    assert verdict.title(KEY) == "Linkage, estimated at most"
    assert POLICY.judge({KEY: {"median": 0.01}}).kept  # a worst case


def test_parts_of_a_setting_together_are_no_worst_case():
    one, other = point(reading(0.01, 0.03)), point(reading(0.02, 0.04))
    spread = _joined([one, other]).spreads[KEY]
    assert (spread.is_bound, spread.values, spread.upper) == (True, (0.01, 0.02), (0.03, 0.04))
    without = _joined([one, point(reading(0.02, None))]).spreads[KEY]
    assert (without.is_bound, without.upper) == (True, ())


def test_a_search_for_a_linkage_takes_no_lower_bound_for_it():
    goal = Goal(keep=policy(**{KEY: 0.05}), best="correlation")
    assert goal.excess(point(reading(0.01, 0.03))) < 0
    assert goal.excess(point(reading(0.01, 0.09))) > 0
    assert goal.excess(point(reading(0.01, None))) > 0
    worst = Spread(measure=KEY, values=(0.01,))
    assert goal.excess(Point(setting=point(reading(0, 0)).setting, spreads={KEY: worst})) < 0
