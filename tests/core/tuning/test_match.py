"""Methods tuned to one loss or one policy: as strong, or as weak, as their levers allow."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.masking import at_levers
from rwn_core.tuning import Plan
from rwn_core.tuning.match import Loss, match

PLAN = Plan(measures=("correlation", "bayes_linkage"), releases=3)
METHODS = ("rwn", "additive_noise", "correlated_noise", "microaggregation")
LOSS = Loss(measure="correlation", value=0.1)


@pytest.fixture(scope="module")
def data():
    return rwn.load_demo("bodyfat")


@pytest.fixture(scope="module")
def matched(data):
    return {each.method: each for each in match(data, METHODS, LOSS, plan=PLAN)}


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
    ends = kind(**kind.start).preview(data).ranges[kind.strength]
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
    with pytest.raises(ParameterError, match="There is no method swap; known are: rwn"):
        match(data, ["swap"], LOSS, plan=PLAN)
    with pytest.raises(ParameterError, match="must be a number"):
        Loss(measure="correlation", value=float("nan"))
