"""Attribute gain is what the attack adds to its baseline, and counts nothing twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import rwn_core as rwn
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.intervals import newcombe


@pytest.fixture(scope="module")
def pima():
    data = rwn.load_demo("pima")
    release = mask(data, RWN(epsilon=1.0, k=5, q=0.5), seed=2)
    return data, release


def compared(pima, **given):
    data, release = pima
    return Comparison(original=data, masked=release.masked, law=release.law, **given)


@pytest.mark.parametrize("held", [None, 90])
def test_the_gain_is_that_of_the_worst_variable_and_level(pima, held):
    given = {} if held is None else {"holdout": pima[0].take(np.arange(held))}
    comparison = compared(pima, **given)
    worst = MEASURES["attribute_inference"].read(comparison)
    gain = MEASURES["attribute_gain"].read(comparison)
    each = gain.detail.gains[gain.detail.worst]
    # the success for all people, or the score of naming a level, whichever is larger
    assert gain.value == max(each["overall"], each["naming"]["score"]) > 0
    assert gain.interval[0] <= gain.value <= gain.interval[1]
    if held is None:
        assert each["overall"] == pytest.approx(worst.value - worst.baseline)
    expected = max(g["overall"] for g in worst.detail.gains)
    assert gain.value >= expected


@pytest.mark.parametrize("held", [None, 90])
def test_of_a_number_the_interval_is_newcombes(held):
    data = rwn.load_demo("bodyfat")
    release = mask(data, RWN(epsilon=2.0, k=5), seed=1)
    given = {} if held is None else {"holdout": data.take(np.arange(held))}
    comparison = Comparison(original=data, masked=release.masked, law=release.law, **given)
    worst = MEASURES["attribute_inference"].read(comparison)
    gain = MEASURES["attribute_gain"].read(comparison)
    if gain.detail.gains[gain.detail.worst]["of_all"]:
        assert gain.value == pytest.approx(worst.value - worst.baseline)
        expected = confint_proportions_2indep(
            worst.value * data.n, data.n, worst.baseline * (held or data.n), held or data.n,
            method="newcomb", compare="diff",
        )  # fmt: skip
        np.testing.assert_allclose(gain.interval, expected, atol=1e-9)
    assert gain.detail.gains[gain.detail.worst]["of_all"] == (held is None)


def test_a_table_without_a_confidential_variable_has_no_gain(pima):
    data, release = pima
    variables = tuple(replace(each, role=rwn.Role.KEY) for each in data.schema.variables)
    plain = rwn.Microdata(data.frame, rwn.Schema(variables=variables))
    reading = MEASURES["attribute_gain"].read(
        Comparison(original=plain, masked=release.masked, law=release.law)
    )
    assert "No variable is confidential" in str(reading)


def test_newcombe_is_that_of_statsmodels_and_covers_nothing_gained():
    for one, other in [((56, 70), (48, 80)), ((0, 10), (0, 20)), ((10, 10), (0, 20))]:
        expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")
        np.testing.assert_allclose(newcombe(one, other), expected, atol=1e-9)
    # equal rates: covered in 95 of 100; a planted gain of 0.1 is not
    random = np.random.default_rng(1)
    draws = random.binomial(400, 0.3, (2000, 2))
    ends = np.array([newcombe((a, 400), (b, 400)) for a, b in draws])
    assert ((ends[:, 0] <= 0) & (ends[:, 1] >= 0)).mean() > 0.94
    wrong = np.array([newcombe((a + 40, 400), (b, 400)) for a, b in draws])
    assert ((wrong[:, 0] <= 0) & (wrong[:, 1] >= 0)).mean() < 0.2
