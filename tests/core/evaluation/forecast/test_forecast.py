"""Forecasts without draws are what releases give; a scan is each forecast alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core import RWN, Kind, Microdata, ParameterError, SecretKey, coordinates
from rwn_core.evaluation.forecast import Forecast, forecast, forecast_scan
from rwn_core.laws.donors import copy_from_donors
from rwn_core.neighbors import Neighborhoods, find_neighborhoods

RELEASES = 400
FAMILY_ERROR = 1e-4


def simulated_donors(
    neighborhoods: Neighborhoods, q: float, p: int, rng: np.random.Generator
) -> np.ndarray:
    """Donors drawn from the definition, by code that the program does not share."""
    starts, records = neighborhoods.pairs()
    n = neighborhoods.n
    places = (rng.random((n, p)) * neighborhoods.sizes[:, None]).astype(np.int64)
    donors = records[starts[:-1, None] + places]
    return np.where(rng.random((n, p)) < q, donors, np.arange(n)[:, None])


class Moments:
    """Every moment that a forecast states, of a table given as donors."""

    def __init__(self, data: Microdata) -> None:
        self.data = data
        self.names = list(data.numeric_names)
        released = [v.name for v in data.schema.released]
        self.columns = [released.index(name) for name in self.names]
        self.values = data.matrix(self.names)
        self.categories = [v.name for v in data.schema.released if v.kind is Kind.CATEGORICAL]
        self.category_columns = [released.index(name) for name in self.categories]
        self.codes = [data.codes(name) for name in self.categories]
        self.upper = np.triu_indices(len(self.names))

    def of_release(self, donors: np.ndarray) -> np.ndarray:
        places = enumerate(self.columns)
        numbers = np.column_stack([self.values[donors[:, c], j] for j, c in places])
        counts = [
            np.bincount(known[donors[:, c]], minlength=len(levels))
            for c, (known, levels) in zip(self.category_columns, self.codes, strict=True)
        ]
        parts = [
            numbers.mean(axis=0),
            np.cov(numbers, rowvar=False)[self.upper],
            *counts,
        ]
        return np.concatenate(parts).astype(float)

    def of_forecast(self, expected: Forecast) -> np.ndarray:
        parts = [
            expected.means,
            expected.covariances.to_numpy()[self.upper],
            *(expected.category_counts[name] for name in self.categories),
        ]
        return np.concatenate([np.asarray(part, dtype=float) for part in parts])


def scores(releases: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """How many standard errors each moment's mean is away; a constant moment must agree.

    A count expected fewer than 25 times over all releases is left out: it is not normal.
    """
    counts = (releases == np.round(releases)).all(axis=0)
    common = ~(counts & (expected * len(releases) < 25) & (expected > 0))
    releases, expected = releases[:, common], expected[common]
    spread = releases.std(axis=0, ddof=1)
    fixed = spread <= 1e-9 * np.abs(releases).max(axis=0)
    np.testing.assert_allclose(releases.mean(axis=0)[fixed], expected[fixed], rtol=1e-9)
    error = spread[~fixed] / np.sqrt(len(releases))
    return (releases.mean(axis=0)[~fixed] - expected[~fixed]) / error


def bound(count: int) -> float:
    return float(stats.norm.isf(FAMILY_ERROR / (2 * count)))


def simulate(data: Microdata, params: rwn.RWN, seed: str) -> tuple[Moments, np.ndarray]:
    moments = Moments(data)
    neighborhoods = find_neighborhoods(coordinates(data), k=params.k, epsilon=params.epsilon)
    rng = np.random.default_rng(list(seed.encode()))
    releases = [
        moments.of_release(simulated_donors(neighborhoods, params.q, data.p, rng))
        for _ in range(RELEASES)
    ]
    return moments, np.array(releases)


@pytest.fixture(scope="module", params=["bodyfat", "cps1988"])
def trial(request, key_base):
    data = rwn.load_demo(request.param)
    data = data.take(np.arange(min(data.n, 2100)))  # too many for all pairs
    params = rwn.RWN(epsilon=2.0 if request.param == "bodyfat" else 0.1, k=5, q=0.7)
    moments, releases = simulate(data, params, f"{key_base} forecast {request.param}")
    return data, params, moments, releases


def test_forecast_agrees_with_400_releases_in_every_moment(trial):
    data, params, moments, releases = trial
    z = scores(releases, moments.of_forecast(forecast(data, params)))
    assert np.abs(z).max() < bound(len(z))
    # and not only the largest: the z follow the standard normal law's spread
    assert 0.6 < np.sqrt((z**2).mean()) < 1.5


def test_the_criterion_rejects_formulas_planted_wrong(trial):
    data, params, moments, releases = trial
    right = forecast(data, params)
    one_too_many = moments.of_forecast(forecast(data, rwn.RWN(k=params.k + 1, q=params.q)))
    z = scores(releases, one_too_many)
    assert np.abs(z).max() > bound(len(z))
    # the variance of the cells left out of the covariances
    wrong = moments.of_forecast(right)
    first, end = len(moments.names), len(moments.names) + len(moments.upper[0])
    cells = np.diag(data.n * right.mean_variances.to_numpy())
    wrong[first:end] = (right.covariances.to_numpy() - cells)[moments.upper]
    z = scores(releases, wrong)
    assert np.abs(z).max() > bound(len(z))
    # a record that may be its own donor
    self_included = forecast(data, replace(params, q=params.q * 5 / 6))
    z = scores(releases, moments.of_forecast(self_included))
    assert np.abs(z).max() > bound(len(z))


def mixed_with_holes(n: int = 120) -> Microdata:
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "y": x + rng.normal(size=n),
            "g": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "constant": 5.0,
        }
    )
    return Microdata.from_frame(frame)


def test_missing_numbers_and_constants(key_base):
    """Of means with gaps another test tells."""
    data, params = mixed_with_holes(), rwn.RWN(k=4, q=0.8)
    found = forecast(data, params)
    neighborhoods = find_neighborhoods(coordinates(data), k=4)
    rng = np.random.default_rng(list(f"{key_base} holes".encode()))
    draws = (simulated_donors(neighborhoods, 0.8, data.p, rng) for _ in range(RELEASES))
    frames = (copy_from_donors(data, each).frame for each in draws)
    covariance = np.array([frame["x"].cov(frame["y"]) for frame in frames])
    error = covariance.std(ddof=1) / np.sqrt(RELEASES)
    assert abs(covariance.mean() - found.covariances.loc["x", "y"]) < 4.5 * error
    assert found.covariances.loc["constant", "constant"] == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.correlations.loc["constant", "x"])


def test_a_correlation_is_never_beyond_1_and_a_constant_has_none() -> None:
    covariances = pd.DataFrame([[4.0, 2.0000001, 0.0], [2.0000001, 1.0, 0.0], [0.0, 0.0, 0.0]])
    none = pd.Series(dtype=float)
    made = Forecast(means=none, covariances=covariances, mean_variances=none, category_counts={})
    found = made.correlations.to_numpy()
    np.testing.assert_array_equal(found[:2, :2], np.ones((2, 2)))
    assert np.isnan(found[2]).all()


SMALL = [rwn.RWN(epsilon=e, k=k, q=q) for e in (0.0, 2.0, 4.0) for k, q in ((3, 1), (9, 0.3))]
LARGE = [rwn.RWN(epsilon=e, k=k) for e, k in ((0.0, 4), (0.5, 8), (0.9, 4))]
SHRINKING = [rwn.RWN(epsilon=e, k=4, weights="discrete") for e in (0.0, 0.5)]
SCANS = {
    "small": ("bodyfat", 241, SMALL),
    "too large for all pairs": ("cps1988", 2600, LARGE),
    "shrinking weights": ("cps1988", 400, SHRINKING),
}


@pytest.mark.parametrize("scan", SCANS)
def test_a_scan_equals_the_single_forecasts(scan):
    demo, records, settings = SCANS[scan]
    data = rwn.load_demo(demo).take(np.arange(records))
    for params, found in zip(settings, forecast_scan(data, settings), strict=True):
        alone = forecast(data, params)
        np.testing.assert_allclose(found.means, alone.means, rtol=1e-12)
        np.testing.assert_allclose(found.covariances, alone.covariances, rtol=1e-9, atol=1e-12)


def test_radii_of_records():
    data = rwn.load_demo("bodyfat")
    radii = np.linspace(1.0, 3.0, data.n)
    found = forecast(data, rwn.RWN(epsilon=radii, k=3))
    assert np.isfinite(found.means).all()
    with pytest.raises(ParameterError, match="one radius"):
        forecast_scan(data, [rwn.RWN(epsilon=radii, k=3)])


def test_a_scan_in_many_blocks_is_the_same_scan(monkeypatch):
    data = rwn.load_demo("pima")
    settings = [rwn.RWN(k=k, q=0.4) for k in (2, 6)]
    whole = forecast_scan(data, settings)
    monkeypatch.setattr("rwn_core.evaluation.forecast.expected_sums.NUMBERS_A_BLOCK", 900)
    for one, other in zip(whole, forecast_scan(data, settings), strict=True):
        np.testing.assert_allclose(one.covariances, other.covariances, rtol=1e-9)
        counts = (each.category_counts["test"] for each in (one, other))
        np.testing.assert_allclose(*counts)


def test_a_scan_uses_neighbors_at_hand():
    data = rwn.load_demo("bodyfat")
    prepared = rwn.RWN(k=1).preview(data)
    setting = rwn.RWN(epsilon=2.0, k=5)
    (found,) = forecast_scan(data, [setting], prepared=prepared)
    np.testing.assert_allclose(found.means, forecast(data, setting).means)
    assert forecast_scan(data, []) == []


def test_a_scan_refuses_two_metrics():
    data = rwn.load_demo("pima")
    for other in ({"scale": "range"}, {"encoding": "matching"}, {"weights": "discrete"}):
        with pytest.raises(ParameterError, match="same scale, encoding and weights"):
            forecast_scan(data, [rwn.RWN(k=3), rwn.RWN(k=3, **other)])


def test_a_scan_is_what_was_published_for_bodyfat():
    """Closed forms at q = 1, k = 5: 0.052, 0.053, 0.079, 0.174, 0.403 at epsilon 0, 2, 3, 4, 6."""
    data = rwn.load_demo("bodyfat")
    settings = [rwn.RWN(epsilon=epsilon, k=5) for epsilon in (0.0, 2.0, 3.0, 4.0, 6.0)]
    pairs = np.triu_indices(len(data.numeric_names), 1)
    before = np.corrcoef(data.matrix(data.numeric_names), rowvar=False)[pairs]
    scan = forecast_scan(data, settings)
    change = [np.abs(one.correlations.to_numpy()[pairs] - before).mean() for one in scan]
    assert change == pytest.approx([0.052, 0.053, 0.079, 0.174, 0.403], abs=6e-4)


Q = 0.5
NEAREST = np.array([1, 0, 1, 2])  # whose value a record takes


def every_release(values: np.ndarray) -> list[np.ndarray]:
    """All 16 releases of four records, each with its own value or its neighbor's, alike likely."""
    return [
        values[np.where(taken, NEAREST, np.arange(4))] for taken in product([False, True], repeat=4)
    ]


@pytest.mark.parametrize("third", [9.0, np.nan])
def test_means_are_ratios_of_expectations_and_counts_are_exact(third):
    numbers = np.array([0.0, 30.0, third, 1.0])
    found, releases = forecast(data_of(numbers), RWN(k=1, q=Q)), every_release(numbers)
    sums, counts = np.nansum(releases, axis=1), (~np.isnan(releases)).sum(axis=1)
    assert found.means["x"] == pytest.approx(sums.mean() / counts.mean(), abs=1e-12)
    if not np.isnan(third):  # then a ratio of expectations is the expected mean
        assert found.means["x"] == pytest.approx((sums / counts).mean(), abs=1e-12)
    levels = every_release(np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.category_counts["g"]["a"] == pytest.approx(np.mean(levels) * 4)


def test_a_release_may_lose_all_its_numbers():
    """Where it does there is no mean: the others decide."""
    numbers = np.array([np.nan, 30.0, np.nan, np.nan])
    found = forecast(data_of(numbers), RWN(k=1, q=Q)).means["x"]
    kept = [np.nanmean(each) for each in every_release(numbers) if not np.isnan(each).all()]
    assert len(kept) < 16
    assert found == pytest.approx(np.mean(kept), abs=1e-12) == 30.0


def test_mean_and_sd_are_those_of_releases_where_large_values_are_missing():
    """Values are missing more often where they are large: known ones are no random part."""
    params = RWN(k=4, q=0.7)
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    y = x + 0.3 * rng.normal(size=600)
    y[(x > 0.5) & (rng.random(600) < 0.7)] = np.nan
    data = Microdata.from_frame(pd.DataFrame({"x": x, "y": y})).with_weights({"x": 1.0, "y": 0.0})
    ahead, prepared = forecast(data, params), params.prepare(data)
    drawn = [prepared.release(SecretKey.from_seed(seed)).masked.values("y") for seed in range(200)]
    for expected, found in (
        (ahead.means["y"], [np.nanmean(each) for each in drawn]),
        (ahead.covariances.loc["y", "y"], [np.nanvar(each, ddof=1) for each in drawn]),
    ):
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 4 * error + 1 / 600


def data_of(numbers: np.ndarray) -> Microdata:
    frame = pd.DataFrame({"x": numbers, "y": [0.0, 1.0, 3.0, 10.0], "g": list("aabb")})
    return Microdata.from_frame(frame).with_weights({"x": 0.0, "y": 1.0, "g": 0.0})
