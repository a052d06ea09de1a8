"""Methods tuned to one loss or one policy: as strong, or as weak, as their levers allow."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.masking import at_levers
from rwn_core.masking.lever import neutral_levers
from rwn_core.tuning import Plan, Spread
from rwn_core.tuning.match import MatchedLoss, Unmatched, between, match
from rwn_core.tuning.slice_presets import preset_slices

PLAN = Plan(measures=("correlation", "bayes_linkage"), releases=3)
METHODS = ("rwn", "additive_noise", "correlated_noise", "microaggregation")
LOSS = MatchedLoss(measure="correlation", value=0.1)


@pytest.fixture(scope="module")
def data():
    return rwn.load_demo("bodyfat")


@pytest.fixture(scope="module")
def matched(data):
    told: list[float] = []
    along = ("distance_linkage",)
    found = match(data, METHODS, LOSS, plan=PLAN, along=along, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    return {each.method: each for each in found}


def read(data, method: str, strength: float, point) -> float:
    """The loss of the same setting at another strength, drawn by itself."""
    params = at_levers(point.setting.params, {rwn.METHODS[method].strength: strength})
    losses = [
        rwn.audit(data, rwn.mask(data, params, seed=1 + seed), measures=["correlation"])
        for seed in range(PLAN.releases)
    ]
    return sorted(each["correlation"].value for each in losses)[1]


def test_the_strongest_setting_is_as_good_as_asked_and_the_next_is_not(data, matched):
    for method, found in matched.items():
        kind = rwn.METHODS[method]
        ends = kind(**neutral_levers(kind)).preview(data).ranges[kind.strength]
        strength = getattr(found.point.setting.params, kind.strength)
        median = found.point.median("correlation")
        assert read(data, method, strength, found.point) == pytest.approx(median)
        assert median <= LOSS.value
        assert found.reached == (method != "correlated_noise"), "which never loses so much"
        if found.reached:
            assert read(data, method, strength + ends.step, found.point) > LOSS.value
        else:
            assert strength == pytest.approx(ends.high)
        assert found.point.median("bayes_linkage") is not None


def spread(values: tuple[float, ...], **more: Any) -> Spread:
    return Spread(measure="bayes_linkage", values=values, **more)


def test_readings_between_two_steps_are_on_the_line_between_their_sorted_releases():
    one, other = spread((0.4, 0.2, 0.3)), spread((0.6, 0.9, 0.6))
    quarter = between(one, other, 0.25)
    assert quarter.values == pytest.approx((0.3, 0.375, 0.525))  # 0.2 and 0.6, 0.3 and 0.6, ...
    assert quarter.median == pytest.approx(0.75 * one.median + 0.25 * other.median)
    assert between(one, other, 0.0).values == tuple(sorted(one.values))
    # an upper bound stays one, and is lost where one step has none
    low = spread((0.2,), is_bound=True, upper=(0.5,))
    assert between(low, spread((0.4,)), 0.5).upper == pytest.approx((0.45,))
    assert between(low, spread((0.4,), is_bound=True), 0.5).upper == ()
    assert between(low, spread((0.4,), is_bound=True), 0.5).is_bound
    silent = between(one, spread((), reason="no law"), 0.5)
    assert (silent.values, silent.reason) == ((), "no law")


def test_a_coarse_method_is_compared_at_the_loss_of_the_others(data, matched):
    coarse = matched["microaggregation"]
    near, far = (
        read_all(data, rwn.Microaggregation(k=each.setting.params.k))
        for each in (coarse.point, coarse.beyond)
    )
    assert coarse.beyond.setting.params.k == coarse.point.setting.params.k + 1
    share = (LOSS.value - near["correlation"]) / (far["correlation"] - near["correlation"])
    assert 0 <= share < 1
    assert coarse.share == pytest.approx(share)
    for measure, value in near.items():  # no luck in it: each release is the same
        line = (1 - share) * value + share * far[measure]
        assert coarse.at_loss.median(measure) == pytest.approx(line)
    assert coarse.at_loss.median("correlation") == pytest.approx(LOSS.value)
    at = coarse.point.setting.params.k
    assert coarse.words == f"k between {at} and {at + 1}"
    noise = matched["additive_noise"]
    assert noise.at_loss.median("correlation") == pytest.approx(LOSS.value)


def read_all(data: rwn.Microdata, params: Any) -> dict[str, float]:
    found = rwn.audit(data, rwn.mask(data, params, seed=1), measures=list(PLAN.measures))
    return {measure: found[measure].value for measure in PLAN.measures}


def test_rows_that_a_method_drops_are_counted_and_lower_no_linkage(data):
    plan = Plan(measures=("bayes_linkage", "distance_linkage"), releases=3)
    (found,) = match(
        data, ["nbrs2015"], MatchedLoss(measure="association_loss", value=0.1), plan=plan
    )
    released = found.at_loss.released
    assert 0.5 < released < 0.95
    # by all records the empty rows would look like protection
    assert found.at_loss.median("bayes_linkage") > released + 0.05


def test_slices_and_kernels_are_candidates(data):
    keys = ["rwn", "rwn keys_together", "rwn gaussian balanced whole", "rwn alone"]
    plan = Plan(measures=("correlation",), releases=2)
    loss = MatchedLoss(measure="correlation", value=0.02)
    own, sliced, soft, again = match(data, keys, loss, plan=plan)
    keys[2] = "soft_rwn balanced whole"  # as it is called now
    assert [each.method for each in (own, sliced, soft, again)] == keys
    assert own.point.setting.slices == ()
    assert sliced.point.setting.slices == preset_slices(data, "keys_together")
    assert soft.point.setting.slices == preset_slices(data, "whole")
    assert (soft.point.setting.params.kernel, soft.point.setting.params.balance) == ("gaussian", 1)
    assert isinstance(again, Unmatched)  # the table's own slices: each alone
    assert again.reason == "Its slices are those of a method above."
    for wrong in ("rwn swirl", "rwn whole alone", ""):
        with pytest.raises(ParameterError):
            match(data, [wrong], loss, plan=plan)


def test_a_method_that_cannot_mask_the_table_says_why():
    words = rwn.Microdata.from_frame(pd.DataFrame({"g": list("abab") * 5, "h": list("ccdd") * 5}))
    plan = Plan(measures=("cells_changed",), releases=2)
    policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.15),))
    found = match(words, ["additive_noise", "pram"], policy, plan=plan)
    assert isinstance(found[0], Unmatched)
    assert found[0].method == "additive_noise"
    assert "masks numbers only" in found[0].reason
    assert found[1].method == "pram"
    assert found[1].reached


def test_the_weakest_setting_that_keeps_a_policy(data):
    policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.2),))
    (found,) = match(data, ["additive_noise"], policy, plan=PLAN)
    assert found.reached
    size = found.point.setting.params.size
    assert 0 < size < 2
    impossible = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.0),))
    (none,) = match(data, ["microaggregation"], impossible, plan=PLAN)
    assert not none.reached


def test_what_is_refused(data):
    with pytest.raises(ParameterError, match="There is no method swap"):
        match(data, ["swap"], LOSS, plan=PLAN)
    with pytest.raises(ParameterError, match="must be a number"):
        MatchedLoss(measure="correlation", value=float("nan"))
