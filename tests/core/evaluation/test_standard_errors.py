"""Validity of standard errors: against simulation, by hand, and on awkward tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question, Schema
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.validity import combine_releases, standard_error_validity
from rwn_core.neighbors import neighbor_table
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey
from tests.check_values import check_values

MI_1 = check_values("utility")["MI-1"]
QUESTION = Question(response="y", predictors=("a", "b", "c"))
TRUTH = np.array([1.0, 1.0, -0.5, 0.5])


def sample(rng: np.random.Generator, n: int = 300) -> Microdata:
    shared = rng.normal(size=(n, 1))
    x = shared * 0.7 + rng.normal(size=(n, 3)) * 0.7
    y = TRUTH[0] + x @ TRUTH[1:] + rng.normal(size=n)
    frame = pd.DataFrame({"y": y, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    made = Microdata.from_frame(frame)
    return made.with_schema(Schema(variables=made.schema.variables, question=QUESTION))


def test_MI_1_combining_releases():
    given, wanted = MI_1["input"], MI_1["expected"]
    found = combine_releases(np.array(given["q"]), np.array(given["u"]))
    assert found.estimate == pytest.approx(wanted["qbar"], rel=1e-12)
    assert found.within == pytest.approx(wanted["ubar"], rel=1e-12)
    assert found.between == pytest.approx(wanted["b"], rel=1e-12)
    assert found.variance == pytest.approx(wanted["T"], rel=1e-12)
    assert found.degrees == pytest.approx(wanted["nu"], rel=1e-9)


def test_equal_estimates_have_all_the_degrees_of_freedom():
    assert combine_releases(np.ones(3), np.ones(3)).degrees == np.inf
    with pytest.raises(ParameterError, match="at least two"):
        combine_releases(np.ones(1), np.ones(1))
    with pytest.raises(ParameterError, match="above 0"):
        combine_releases(np.ones(2), np.array([1.0, 0.0]))


@pytest.fixture(scope="module")
def simulated(key_base):
    """Reported over true standard error and coverage over fresh samples from a population."""
    rng = np.random.default_rng(list(f"{key_base} validity".encode()))
    found = {}
    for q in (0.0, 1.0):
        estimates, errors = [], []
        for number in range(150):
            data = sample(rng)
            masked = rwn.mask(data, rwn.RWN(k=5, q=q), seed=number).masked
            reading = rwn.MEASURES["regression"].compute(compare(data, masked))
            estimates.append(reading.detail.coefficient_released)
            errors.append(reading.detail.se_released)
        found[q] = np.array(estimates), np.array(errors)
    return found


def ratio(estimates: np.ndarray, errors: np.ndarray) -> float:
    return float((errors.mean(axis=0) / estimates.std(axis=0, ddof=1)).mean())


def test_SE_1_reported_standard_errors_are_true_only_without_masking(simulated):
    """Measured elsewhere, 600 replications: 1.01 at q = 0 and 0.76 at q = 1, k = 5."""
    assert ratio(*simulated[0.0]) == pytest.approx(1.01, abs=0.09)  # 150: s.e. 0.03 a coefficient
    assert ratio(*simulated[1.0]) == pytest.approx(0.76, abs=0.09)
    estimates, errors = simulated[0.0]
    assert (np.abs(estimates - TRUTH) < 1.96 * errors).mean() > 0.92
    estimates, errors = simulated[1.0]
    assert (np.abs(estimates - TRUTH) < 1.96 * errors).mean() < 0.9


def test_SE_1_the_bootstrap_finds_what_sampling_would(simulated):
    data = sample(np.random.default_rng(77))
    unmasked = standard_error_validity(data, rwn.RWN(k=5, q=0.0), repeats=80, seed=1)
    masked = standard_error_validity(data, rwn.RWN(k=5, q=1.0), repeats=80, seed=1)
    assert unmasked.ratio.mean() == pytest.approx(ratio(*simulated[0.0]), abs=0.15)
    assert masked.ratio.mean() == pytest.approx(ratio(*simulated[1.0]), abs=0.15)
    assert masked.ratio.mean() < unmasked.ratio.mean()
    np.testing.assert_allclose(unmasked.inflation, 1.0, atol=1e-12)
    assert (masked.inflation > 1).all()
    assert (masked.inflation_with_bias >= masked.inflation).all()
    assert (masked.factor >= 1).all()


def test_a_sample_never_draws_from_its_own_copies():
    data = sample(np.random.default_rng(3), 60)
    table = neighbor_table(coordinates(data), k=10, epsilon=None)
    rows = np.sort(np.random.default_rng(1).integers(0, 60, 60))
    rows[:2] = 0  # the first record is there, too
    neighborhoods = table.without_copies(rows).cut(k=4, epsilon=None)
    assert (neighborhoods.sizes >= 4).all()
    for record in range(60):
        assert rows[record] not in rows[neighborhoods.members(record)]
    other = table.without_copies(rows)
    for record in range(60):  # every copy of every other original, once
        start, end = other.offsets[record : record + 2]
        others = np.flatnonzero(rows != rows[record])
        assert sorted(other.records[start:end]) == others.tolist()
    # the nearest member is the nearest other original that the sample holds
    points = coordinates(data)
    for record in (0, 17, 59):
        distance = np.linalg.norm(points - points[rows[record]], axis=1)
        others = [row for row in set(rows.tolist()) if row != rows[record]]
        nearest = min(others, key=lambda row: distance[row])
        assert rows[neighborhoods.members(record)[0]] == nearest


def test_refusals_name_the_columns():
    data = sample(np.random.default_rng(5), 50)
    with pytest.raises(NotApplicable, match="No regression"):
        standard_error_validity(
            rwn.load_demo("bodyfat_raw").with_schema(
                Schema(variables=rwn.load_demo("bodyfat_raw").schema.variables)
            ),
            rwn.RWN(k=5),
        )
    with pytest.raises(ParameterError, match="repeats"):
        standard_error_validity(data, rwn.RWN(k=5), repeats=3)
    frame = data.frame.assign(d=2 * data.frame["a"])
    doubled = Microdata.from_frame(frame)
    question = Question(response="y", predictors=("a", "d"))
    with pytest.raises(NotApplicable, match=r"collinear.*: d"):
        standard_error_validity(doubled, rwn.RWN(k=5), question=question)
    frame = data.frame.assign(d=data.frame["y"] * 3)
    exact = Microdata.from_frame(frame)
    with pytest.raises(NotApplicable, match="exactly"):
        standard_error_validity(
            exact, rwn.RWN(k=5), question=Question(response="y", predictors=("d",))
        )


def test_the_variance_of_a_mean_is_that_of_releases():
    data = rwn.load_demo("bodyfat")
    params = rwn.RWN(k=5, q=0.8)
    expected = rwn.forecast(data, params).mean_variances
    prepared = params.prepare(data)
    releases = [prepared.release(SecretKey.from_seed(s)).masked for s in range(120)]
    means = np.array([each.frame[expected.index].mean() for each in releases])
    # a variance of 120 draws has a relative standard error of 13 %
    np.testing.assert_allclose(expected, means.var(axis=0, ddof=1), rtol=0.6)
