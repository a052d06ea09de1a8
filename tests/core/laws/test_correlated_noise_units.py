"""Correlated noise in any unit: the same rows, the same risk, and no truth called impossible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.laws.correlated_noise_law import CorrelatedNoiseOn, spread_axes
from rwn_core.masking import CorrelatedNoise, mask
from rwn_core.masking.correlated_noise import moments
from rwn_core.measures import read
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison

LINKAGES = ("bayes_linkage", "global_linkage", "distance_linkage", "mahalanobis_linkage")


def amounts(unit: float = 1.0, n: int = 400) -> Microdata:
    """Ages, a normal number and three amounts of money in some unit; all are keys."""
    rng = np.random.default_rng(5)
    age, shared = rng.integers(18, 90, n), rng.normal(size=n)
    money = np.exp(0.6 * shared[:, None] + 0.8 * rng.normal(size=(n, 3)))
    money = np.round(money * np.array([2e6, 5e7, 5e6])) / unit
    frame = pd.DataFrame({"age": age, "b": shared, **dict(zip("uvw", money.T, strict=True))})
    frame["sex"] = rng.integers(0, 2, n)
    data = Microdata.from_frame(frame)
    for name in data.names:
        data = data.with_schema(data.schema.replace_variable(name, role=Role.KEY))
    return data


def linkages(data: Microdata, size: float) -> list[float]:
    release = mask(data, CorrelatedNoise(size=size), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    return [read(key, comparison).value for key in LINKAGES]


@pytest.mark.parametrize("size", [0.1, 0.25, 1.0])
def test_the_worst_case_depends_on_no_unit_and_is_the_worst_finding_a17(size: float) -> None:
    found = linkages(amounts(), size)
    assert found[0] >= max(found[1:]) - 0.01
    for unit in (1e6, 1e-6):
        assert linkages(amounts(unit), size) == pytest.approx(found, rel=1e-6)


def test_units_of_the_covariance_decided_before_finding_a17() -> None:
    """A planted fault: axes of the covariance itself lose those of the small units."""
    _, covariance = moments(amounts().matrix(("age", "b", "u", "v", "w")))
    values = np.linalg.eigvalsh(covariance)
    assert (values <= values.max() * 1e-12).sum() == 2
    assert (spread_axes(covariance)[1] > 0).all()


def test_rounding_counts_as_noise_of_a_twelfth_of_a_squared_step() -> None:
    data = Microdata.from_frame(pd.DataFrame({"x": [0.5, 2.5, 7.5], "y": [0.5, 0.5, 0.5]}))
    shown = Microdata.from_frame(pd.DataFrame({"x": [0.0, 5.0], "y": [0.5, 0.5]}))
    part = CorrelatedNoiseOn(
        original=data, names=("x", "y"), covariance=np.diag([2.0, 1.0]), mean=np.zeros(2), shrink=1
    )
    logs = -0.5 * np.array([0.5, 2.5, 7.5]) ** 2 / (2.0 + 25 / 12)
    found = part.rounded({"x": 5.0}).chances(shown, np.array([0]))
    np.testing.assert_allclose(found[0], np.exp(logs - logs.max()))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("precision", [{}, {"a": 0.5, "total": 20.0}])
def test_no_truth_is_impossible_where_columns_add_up_and_are_rounded(
    precision: dict[str, float], whole: bool
) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 90, (80, 2)), columns=["a", "b"]) + (0 if whole else 0.25)
    frame = frame.assign(total=frame["a"] + frame["b"], same=0.1)
    data = Microdata.from_frame(frame)
    release = mask(data, CorrelatedNoise(size=0.1), seed=1, precision=precision)
    truth = np.diag(posteriors(release.law, release.masked, np.arange(80)).toarray())
    assert (truth > 0).all()
    # a sum adds nothing that the noise has not
    plain = Microdata.from_frame(frame[["a", "b"]])
    other = mask(plain, CorrelatedNoise(size=0.1), seed=1)
    alone = np.diag(posteriors(other.law, other.masked, np.arange(80)).toarray())
    assert truth.mean() == pytest.approx(alone.mean(), abs=0.05)


def test_rows_are_the_same_in_any_unit() -> None:
    data = rwn.load_demo("bodyfat")
    names = [name for name in data.names if name != "age"]  # whole numbers are rounded
    release = mask(data, CorrelatedNoise(size=0.5), seed=3).masked.frame
    scaled = Microdata.from_frame(data.frame * 1e6, data.schema)
    found = mask(scaled, CorrelatedNoise(size=0.5), seed=3).masked.frame
    np.testing.assert_allclose(found[names] / 1e6, release[names])
