"""Methods tuned to one loss or one policy: as strong, or as weak, as their levers allow."""

from __future__ import annotations

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.masking import at_levers
from rwn_core.masking.lever import neutral_levers
from rwn_core.tuning import Plan
from rwn_core.tuning.match import PICTURES, Loss, Refused, match

PLAN = Plan(measures=("correlation", "bayes_linkage"), releases=3)
METHODS = ("rwn", "additive_noise", "correlated_noise", "microaggregation")
LOSS = Loss(measure="correlation", value=0.1)


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


@pytest.mark.parametrize("method", METHODS)
def test_the_strongest_setting_is_as_good_as_asked_and_the_next_is_not(data, matched, method):
    found, kind = matched[method], rwn.METHODS[method]
    ends = kind(**neutral_levers(kind)).preview(data).ranges[kind.strength]
    strength = getattr(found.point.setting.params, kind.strength)
    median = found.point.median("correlation")
    assert read(data, method, strength, found.point) == pytest.approx(median)
    assert found.point.median("correlation") <= LOSS.value
    if found.reached:
        assert read(data, method, strength + ends.step, found.point) > LOSS.value
    else:  # correlated noise never loses so much
        assert strength == pytest.approx(ends.high)
    assert found.point.median("bayes_linkage") is not None


def test_a_method_that_keeps_correlations_is_never_as_lossy(matched):
    assert not matched["correlated_noise"].reached
    assert matched["additive_noise"].reached


@pytest.mark.parametrize("method", METHODS)
def test_the_path_has_what_the_search_read_from_weak_to_strong(matched, method):
    found, kind = matched[method], rwn.METHODS[method]
    strengths = [getattr(point.setting.params, kind.strength) for point in found.path]
    assert len(strengths) > 10
    assert strengths == sorted(set(strengths))
    (same,) = [point for point in found.path if point.setting == found.point.setting]
    for measure in ("correlation", "distance_linkage"):
        assert len(same.spreads[measure].values) == PLAN.releases
    assert same.spreads["correlation"].values == found.point.spreads["correlation"].values
    assert set(found.pictures) == set(PICTURES)
    shown = found.pictures["correlation"].value  # of the first release
    assert shown == found.point.spreads["correlation"].values[0]


def test_where_nothing_is_as_good_the_least_loss_is_shown(data):
    (found,) = match(data, ["nbrs2015"], Loss(measure="correlation", value=1e-6), plan=PLAN)
    assert not found.reached
    read = [point.median("correlation") for point in found.path]
    assert found.point.median("correlation") == min(each for each in read if each is not None)
    # a narrow radius loses every record: the first position has no answer
    assert read[0] is None or read[0] > found.point.median("correlation")


def test_a_good_setting_between_two_coarse_ones_is_found(data):
    loss = Loss(measure="correlation", value=0.0638)
    (found,) = match(data, ["nbrs2015"], loss, plan=Plan(measures=("correlation",), releases=3))
    assert found.reached
    assert found.point.median("correlation") <= loss.value


def test_a_method_that_cannot_mask_the_table_says_why():
    words = rwn.Microdata.from_frame(pd.DataFrame({"g": list("abab") * 5, "h": list("ccdd") * 5}))
    plan = Plan(measures=("cells_changed",), releases=2)
    policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.15),))
    found = match(words, ["additive_noise", "pram"], policy, plan=plan)
    assert isinstance(found[0], Refused)
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


def test_a_slow_limit_is_read_only_where_the_quick_ones_are_kept(data):
    limits = {"distance_linkage": 0.2, "bayes_linkage": 0.3}
    policy = rwn.Policy(limits=tuple(rwn.Limit(measure=m, at_most=v) for m, v in limits.items()))
    plan = Plan(measures=tuple(limits), releases=2)
    (found,) = match(data, ["microaggregation"], policy, plan=plan, along=("correlation",))
    read = [set(point.spreads) for point in found.path]
    everything = {"correlation", *limits}
    assert {"correlation", "distance_linkage"} in read
    for point, measures in zip(found.path, read, strict=True):
        assert (measures == everything) or not policy.judge_point(point).kept
    assert found.reached == policy.judge_point(found.point).kept


def test_what_is_refused(data):
    with pytest.raises(ParameterError, match="There is no method swap; known are: rwn"):
        match(data, ["swap"], LOSS, plan=PLAN)
    with pytest.raises(ParameterError, match="must be a number"):
        Loss(measure="correlation", value=float("nan"))
