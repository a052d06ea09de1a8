"""Forecasts without draws are what releases give; a scan is each forecast alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core import RWN, Kind, Microdata, ParameterError, SecretKey, SoftRWN, coordinates
from rwn_core.evaluation.forecast import Forecast, forecast, forecast_scan
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.neighbors import Neighborhoods, find_neighborhoods
from tests.check_values import check_values
from tests.tables import described, table

RELEASES = 400
FAMILY_ERROR = 1e-4


def drawn(found: Neighborhoods, q: float, p: int, rng: np.random.Generator) -> np.ndarray:
    """Donors drawn from the definition, by code that the program does not share."""
    starts, records = found.pairs()
    places = (rng.random((found.n, p)) * found.sizes[:, None]).astype(np.int64)
    donors = records[starts[:-1, None] + places]
    return np.where(rng.random((found.n, p)) < q, donors, np.arange(found.n)[:, None])


class Moments:
    """Every moment that a forecast states, of a table given as donors."""

    def __init__(self, data: Microdata) -> None:
        self.names = list(data.numeric_names)
        released = [v.name for v in data.schema.released]
        self.columns = [released.index(name) for name in self.names]
        self.values = data.matrix(self.names)
        self.categories = [v.name for v in data.schema.released if v.kind is Kind.CATEGORICAL]
        self.codes = [(released.index(name), *data.codes(name)) for name in self.categories]
        self.upper = np.triu_indices(len(self.names))

    def of_release(self, donors: np.ndarray) -> np.ndarray:
        numbers = np.take_along_axis(self.values, donors[:, self.columns], axis=0)
        counts = [
            np.bincount(known[donors[:, column]], minlength=len(levels))
            for column, known, levels in self.codes
        ]
        covariances = np.cov(numbers, rowvar=False)[self.upper]
        return np.concatenate([numbers.mean(axis=0), covariances, *counts]).astype(float)

    def of_forecast(self, expected: Forecast) -> np.ndarray:
        counts = [expected.category_counts[name] for name in self.categories]
        parts = [expected.means, expected.covariances.to_numpy()[self.upper], *counts]
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


def refuted(releases: np.ndarray, expected: np.ndarray) -> bool:
    z = scores(releases, expected)
    return bool(np.abs(z).max() >= stats.norm.isf(FAMILY_ERROR / (2 * len(z))))


@pytest.mark.parametrize(("name", "epsilon"), [("bodyfat", 2.0), ("cps1988", 0.1)])
def test_forecast_agrees_with_400_releases_in_every_moment(name, epsilon, key_base):
    data = rwn.load_demo(name)
    data = data.take(np.arange(min(data.n, 1000)))
    params, moments = RWN(epsilon=epsilon, k=5, q=0.7), Moments(data)
    found = find_neighborhoods(coordinates(data), k=params.k, epsilon=params.epsilon)
    rng = np.random.default_rng(list(f"{key_base} forecast {name}".encode()))
    donors = (drawn(found, params.q, data.p, rng) for _ in range(RELEASES))
    releases, right = (
        np.array([moments.of_release(each) for each in donors]),
        forecast(data, params),
    )
    assert not refuted(releases, moments.of_forecast(right))
    # and not only the largest: the z follow the standard normal law's spread
    assert 0.6 < np.sqrt((scores(releases, moments.of_forecast(right)) ** 2).mean()) < 1.5
    # planted: one neighbor too many, and a record that may be its own donor
    for wrong in (replace(params, k=6, epsilon=None), replace(params, q=params.q * 5 / 6)):
        assert refuted(releases, moments.of_forecast(forecast(data, wrong)))
    # planted: the variance of the cells left out of the covariances
    wrong = moments.of_forecast(right)
    first, end = len(moments.names), len(moments.names) + len(moments.upper[0])
    cells = np.diag(data.n * right.mean_variances.to_numpy())
    wrong[first:end] = (right.covariances.to_numpy() - cells)[moments.upper]
    assert refuted(releases, wrong)


def holes(n: int = 120) -> Microdata:
    """Numbers of which some are missing, two slices, a category and a constant."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, x)})
    frame["y"] = x + rng.normal(size=n)
    frame["g"] = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    return described(frame.assign(constant=5.0))


def test_covariances_with_missing_numbers_and_constants(key_base):
    """Of means with gaps another test tells."""
    data = holes()
    expected = forecast(data, RWN(k=4, q=0.8))
    found = find_neighborhoods(coordinates(data), k=4)
    rng = np.random.default_rng(list(f"{key_base} holes".encode()))
    values, covariance = data.matrix(["x", "y"]), []
    for _ in range(RELEASES):
        shown = np.take_along_axis(values, drawn(found, 0.8, data.p, rng)[:, :2], axis=0)
        covariance.append(np.cov(shown[~np.isnan(shown).any(axis=1)].T)[0, 1])
    error = np.std(covariance, ddof=1) / np.sqrt(RELEASES)
    assert abs(np.mean(covariance) - expected.covariances.loc["x", "y"]) < 4.5 * error
    assert expected.covariances.loc["constant", "constant"] == pytest.approx(0, abs=1e-12)
    assert np.isnan(expected.correlations.loc["constant", "x"])


def test_a_correlation_is_never_beyond_1_and_a_constant_has_none() -> None:
    covariances = pd.DataFrame([[4.0, 2.0000001, 0.0], [2.0000001, 1.0, 0.0], [0.0, 0.0, 0.0]])
    none = pd.Series(dtype=float)
    made = Forecast(means=none, covariances=covariances, mean_variances=none, category_counts={})
    found = made.correlations.to_numpy()
    np.testing.assert_array_equal(found[:2, :2], np.ones((2, 2)))
    assert np.isnan(found[2]).all()


SCANS = {
    "small": ("bodyfat", 241, [RWN(epsilon=e, k=k, q=q) for e in (0.0, 4.0)
                               for k, q in ((3, 1), (9, 0.3))]),
    "too large for all pairs": ("cps1988", 2600, [RWN(k=4), RWN(epsilon=0.9, k=8)]),
    "shrinking weights": ("cps1988", 400, [RWN(epsilon=e, k=4, weights="discrete")
                                           for e in (0.0, 0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("scan", SCANS)
def test_a_scan_equals_the_single_forecasts(scan, monkeypatch):
    demo, records, settings = SCANS[scan]
    data = rwn.load_demo(demo).take(np.arange(records))
    alone = [forecast(data, params) for params in settings]
    scans = [forecast_scan(data, settings)]
    if scan == "small":  # and so does one in many blocks
        monkeypatch.setattr("rwn_core.evaluation.forecast.expected_sums.NUMBERS_A_BLOCK", 900)
        scans.append(forecast_scan(data, settings))
    for found, one in product(range(len(settings)), scans):
        each, wanted = one[found], alone[found]
        np.testing.assert_allclose(each.means, wanted.means, rtol=1e-12)
        np.testing.assert_allclose(each.covariances, wanted.covariances, rtol=1e-9, atol=1e-12)
        for name, counts in wanted.category_counts.items():
            np.testing.assert_allclose(each.category_counts[name], counts)


def test_what_a_scan_takes_and_refuses():
    data = rwn.load_demo("bodyfat")
    radii = np.linspace(1.0, 3.0, data.n)
    assert np.isfinite(forecast(data, RWN(epsilon=radii, k=3)).means).all()
    with pytest.raises(ParameterError, match="one radius"):
        forecast_scan(data, [RWN(epsilon=radii, k=3)])
    for other in ({"scale": "range"}, {"encoding": "matching"}, {"weights": "discrete"}):
        with pytest.raises(ParameterError, match="same scale, encoding and weights"):
            forecast_scan(data, [RWN(k=3), RWN(k=3, **other)])
    for params in (rwn.RankSwapping(p=0.2), RWN(k=3, neighbors="sample", m=20), rwn.PRAM()):
        with pytest.raises(ParameterError, match="draw releases instead"):
            forecast(data, params)
        with pytest.raises(ParameterError, match="draw releases instead"):
            forecast_scan(data, [params])
    # neighbors at hand are used
    setting = RWN(epsilon=2.0, k=5)
    (found,) = forecast_scan(data, [setting], prepared=RWN(k=1).preview(data))
    np.testing.assert_allclose(found.means, forecast(data, setting).means)
    assert forecast_scan(data, []) == []


def test_a_scan_is_what_was_published_for_bodyfat():
    """Closed forms at q = 1, k = 5: 0.052, 0.053, 0.079, 0.174, 0.403 at epsilon 0, 2, 3, 4, 6."""
    data = rwn.load_demo("bodyfat")
    settings = [RWN(epsilon=epsilon, k=5) for epsilon in (0.0, 2.0, 3.0, 4.0, 6.0)]
    pairs = np.triu_indices(len(data.numeric_names), 1)
    before = np.corrcoef(data.matrix(data.numeric_names), rowvar=False)[pairs]
    scan = forecast_scan(data, settings)
    change = [np.abs(one.correlations.to_numpy()[pairs] - before).mean() for one in scan]
    assert change == pytest.approx([0.052, 0.053, 0.079, 0.174, 0.403], abs=6e-4)


Q = 0.5
NEIGHBOR = np.array([1, 0, 1, 2])  # whose value a record takes


def every_release(values: np.ndarray) -> list[np.ndarray]:
    """All 16 releases of four records, each with its own value or its neighbor's, alike likely."""
    return [
        values[np.where(taken, NEIGHBOR, np.arange(4))]
        for taken in product([False, True], repeat=4)
    ]


def of_four(numbers: np.ndarray) -> Forecast:
    frame = pd.DataFrame({"x": numbers, "y": [0.0, 1.0, 3.0, 10.0], "g": list("aabb")})
    return forecast(described(frame).with_weights({"x": 0.0, "y": 1.0, "g": 0.0}), RWN(k=1, q=Q))


@pytest.mark.parametrize("third", [9.0, np.nan])
def test_means_are_ratios_of_expectations_and_counts_are_exact(third):
    numbers = np.array([0.0, 30.0, third, 1.0])
    found, releases = of_four(numbers), every_release(numbers)
    sums, counts = np.nansum(releases, axis=1), (~np.isnan(releases)).sum(axis=1)
    assert found.means["x"] == pytest.approx(sums.mean() / counts.mean(), abs=1e-12)
    if not np.isnan(third):  # then a ratio of expectations is the expected mean
        assert found.means["x"] == pytest.approx((sums / counts).mean(), abs=1e-12)
    levels = every_release(np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.category_counts["g"]["a"] == pytest.approx(np.mean(levels) * 4)
    # a release may lose all its numbers: where it does there is no mean, and the others decide
    alone = np.array([np.nan, 30.0, np.nan, np.nan])
    kept = [np.nanmean(each) for each in every_release(alone) if not np.isnan(each).all()]
    assert len(kept) < 16
    assert of_four(alone).means["x"] == pytest.approx(np.mean(kept), abs=1e-12) == 30.0


def test_mean_and_sd_are_those_of_releases_where_large_values_are_missing():
    """Values are missing more often where they are large: known ones are no random part."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    y = x + 0.3 * rng.normal(size=600)
    y[(x > 0.5) & (rng.random(600) < 0.7)] = np.nan
    data = described(pd.DataFrame({"x": x, "y": y})).with_weights({"x": 1.0, "y": 0.0})
    ahead, prepared = forecast(data, RWN(k=4, q=0.7)), RWN(k=4, q=0.7).prepare(data)
    masked = [prepared.release(SecretKey.from_seed(seed)).masked.values("y") for seed in range(200)]
    for expected, found in (
        (ahead.means["y"], [np.nanmean(each) for each in masked]),
        (ahead.covariances.loc["y", "y"], [np.nanvar(each, ddof=1) for each in masked]),
    ):
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 4 * error + 1 / 600


# soft and tied neighborhoods
BALANCED = SoftRWN(kernel="gaussian", balance=1.0)
OWN = SoftRWN(kernel="exponential", own=True, cap=0.3, q=0.8)


def related(n: int = 60, *, holes: bool = False) -> Microdata:
    """Related numbers, two of them in a slice, and two related categories."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=n)
    values = base[:, None] + 0.5 * rng.normal(size=(5, n)).T
    frame = pd.DataFrame(values[:, :3], columns=["a", "b", "c"])
    frame["g"] = np.where(values[:, 3] > 0, "high", "low")
    frame["h"] = np.where(values[:, 4] > 0.4, "yes", "no")
    if holes:
        frame.loc[rng.random(n) < 0.15, "a"] = np.nan
    return described(frame, [("a", "b")])


@pytest.mark.parametrize("params", [replace(BALANCED, q=0.7, width=0.6), OWN])
def test_expectations_are_products_with_the_law(params: SoftRWN) -> None:
    data = related()
    found, n = forecast(data, params), data.n
    weights = params.prepare(data).law.probabilities.toarray()
    chances = (1 - params.q) * np.eye(n) + params.q * weights
    values = data.matrix(["a", "b", "c"])
    means = chances @ values
    np.testing.assert_allclose(found.means, means.mean(axis=0), rtol=1e-10)
    noise = (chances @ values**2 - means**2).sum(axis=0)
    np.testing.assert_allclose(found.mean_variances, noise / n**2, rtol=1e-10)
    total = means.sum(axis=0)
    apart = (means[:, 0] @ means[:, 2] - total[0] * total[2] / n) / (n - 1)
    assert found.covariances.loc["a", "c"] == pytest.approx(apart, rel=1e-9)
    product = (chances @ (values[:, 0] * values[:, 1])).sum()
    shared = product - means[:, 0] @ means[:, 1]
    together = (product - (total[0] * total[1] + shared) / n) / (n - 1)
    assert found.covariances.loc["a", "b"] == pytest.approx(together, rel=1e-9)
    high = chances @ (data.frame["g"] == "high").to_numpy()
    assert found.category_counts["g"]["high"] == pytest.approx(high.sum())


@pytest.mark.parametrize("words", ["each alone", "4 slices"])
def test_BAL_5_forecasts_of_bodyfat(words: str) -> None:
    data = rwn.load_demo("bodyfat")
    if words == "4 slices":
        data = data.with_slices([tuple(part) for part in np.array_split(data.numeric_names, 4)])
    values = data.matrix(data.numeric_names)
    spread, n = values.std(axis=0), data.n
    pairs, original = np.triu_indices(values.shape[1], 1), np.corrcoef(values.T)
    settings = {"gauss": SoftRWN(kernel="gaussian"), "balanced": BALANCED, "even k=40": RWN(k=40)}
    for name, params in settings.items():
        made = forecast(data, params)
        awaited = check_values("kernel")["BAL-5"]["expected"][f"{name}, {words}"]
        drift = (made.means.to_numpy() - values.mean(axis=0)) / spread
        assert abs(drift).mean() == pytest.approx(awaited["mean |drift| in sd"], abs=2e-6)
        # about the expected mean, with divisor n: what the variance of the mean takes comes back
        covariance = made.covariances.to_numpy() * (n - 1) / n + np.diag(made.mean_variances)
        after, close = made.correlations.to_numpy(), 2e-3
        if words == "each alone":  # variables of a slice take more from each other, of order 1/n
            sd = np.sqrt(np.diag(covariance))
            after, close = covariance / np.outer(sd, sd), 2e-6
        change = abs(after - original)[pairs].mean()
        assert change == pytest.approx(awaited["mean |change of correlation|"], abs=close)
        ratio = np.sqrt(np.diag(covariance)) / spread
        assert abs(ratio - 1).mean() == pytest.approx(awaited["mean |sd ratio - 1|"], abs=2e-6)


def test_a_scan_along_the_width_is_each_forecast_alone() -> None:
    data = related()
    settings = [replace(OWN, width=width, q=q) for width in (0.4, 1.0) for q in (0.5, 1.0)]
    shares: list[float] = []
    scan = forecast_scan(data, settings, progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    for each, setting in zip(scan, settings, strict=True):
        assert each.means.tolist() == forecast(data, setting).means.tolist()
    # by hand, the smallest cap, which is the even kernel over all others: (2.5 + 2 + 0.5) / 3
    three = described(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    assert forecast(three, SoftRWN(kernel="gaussian", cap=0.5)).means["x"] == pytest.approx(5 / 3)
    # a large table of which all records give has no forecast and says why
    params = SoftRWN(kernel="exponential", bandwidth="absolute", own=True)
    with pytest.raises(ParameterError, match="all pairs of 2,100 records"):
        forecast(table("cloud", 2100), params)
    assert np.isfinite(forecast(data, params).means).all()


@pytest.mark.parametrize("holes", [False, True])
def test_a_tie_adds_to_covariances_what_releases_show(holes: bool) -> None:
    data, params = related(holes=holes), SoftRWN(tie=True, balance=1.0, cap=0.3)
    made, apart = forecast(data, params), forecast(data, replace(params, tie=False))
    law = params.prepare(data).law
    numbers, draws, values = [], 600, data.matrix(["a", "b", "c"])
    for seed in range(draws):
        donors = simulated_donors(law, np.random.default_rng(seed))
        shown = np.take_along_axis(values, donors[:, :3], axis=0)
        numbers.append(pd.DataFrame(shown).cov().to_numpy() if holes else np.cov(shown.T))
    expected, without = made.covariances.to_numpy(), apart.covariances.to_numpy()
    error, mean = np.std(numbers, axis=0) / np.sqrt(draws), np.mean(numbers, axis=0)
    assert (np.abs(mean - expected) < 4 * error + 0.01 * holes).all()
    assert (np.abs(mean - without) > 4 * error).any()  # slices drawn apart are another law
    for same in ("means", "mean_variances"):
        pd.testing.assert_series_equal(getattr(made, same), getattr(apart, same))
