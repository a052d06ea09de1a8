"""Forecasts of soft and tied neighborhoods."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import RWN, Microdata, ParameterError, SoftRWN
from rwn_core.evaluation.forecast import forecast, forecast_scan
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.randomness import SecretKey
from tests.check_values import check_values
from tests.tables import described

BALANCED = SoftRWN(kernel="gaussian", balance=1.0)
SETTINGS = {
    "balanced": replace(BALANCED, q=0.7, width=0.6),
    "exponential with own": SoftRWN(kernel="exponential", own=True, cap=0.3, q=0.8),
}
BAL_5 = check_values("kernel")["BAL-5"]


@cache
def table(n: int = 90, *, holes: bool = False) -> Microdata:
    """Two slices, of numbers and of keys, and a category that stands alone."""
    rng = np.random.default_rng(4)
    base = rng.lognormal(sigma=0.6, size=n)
    x = base + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.15, np.nan, x) if holes else x,
            "y": base,
            "a": rng.integers(0, 12, n).astype(float),
            "b": rng.integers(0, 15, n).astype(float),
            "g": np.where(base > 1.1, "high", "low"),
        }
    )
    return described(frame, [["x", "y"], ["a", "b"]], a="key", b="key")


def donor_law(params: RWN, data: Microdata) -> np.ndarray:
    """Return (1 - q) I + q W."""
    weights = params.prepare(data).law.probabilities.toarray()
    return (1 - params.q) * np.eye(data.n) + params.q * weights


@pytest.mark.parametrize("name", SETTINGS)
def test_expectations_are_products_with_the_law(name: str) -> None:
    data, params = table(), SETTINGS[name]
    found, chances = forecast(data, params), donor_law(params, data)
    values = data.matrix(data.numeric_names)
    means = chances @ values
    np.testing.assert_allclose(found.means, means.mean(axis=0), rtol=1e-10)
    noise = (chances @ values**2 - means**2).sum(axis=0)
    np.testing.assert_allclose(found.mean_variances, noise / data.n**2, rtol=1e-10)
    n, total = data.n, means.sum(axis=0)
    apart = (means[:, 0] @ means[:, 2] - total[0] * total[2] / n) / (n - 1)
    assert found.covariances.loc["x", "a"] == pytest.approx(apart, rel=1e-9)
    product = (chances @ (values[:, 0] * values[:, 1])).sum()
    shared = product - means[:, 0] @ means[:, 1]
    together = (product - (total[0] * total[1] + shared) / n) / (n - 1)
    assert found.covariances.loc["x", "y"] == pytest.approx(together, rel=1e-9)
    high = chances @ (data.frame["g"] == "high").to_numpy()
    assert found.category_counts["g"]["high"] == pytest.approx(high.sum())


def test_a_mean_with_missing_values_agrees_with_300_releases() -> None:
    data, params = table(holes=True), SETTINGS["exponential with own"]
    prepared = params.prepare(data)
    releases = (prepared.release(SecretKey.from_seed(seed)).masked for seed in range(300))
    found = np.array([each.frame[["x", "y"]].mean() for each in releases])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    right, wrong = (forecast(data, each).means[["x", "y"]] for each in (params, RWN(k=30)))
    assert (abs(found.mean(axis=0) - right) < 3.5 * error).all()
    assert (abs(found.mean(axis=0) - wrong) > 5 * error).any()


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
        made, awaited = forecast(data, params), BAL_5["expected"][f"{name}, {words}"]
        drift = (made.means.to_numpy() - values.mean(axis=0)) / spread
        assert abs(drift).mean() == pytest.approx(awaited["mean |drift| in sd"], abs=2e-6)
        # about the expected mean, with divisor n: what the variance of the mean takes comes back
        covariance = made.covariances.to_numpy() * (n - 1) / n
        covariance += np.diag(made.mean_variances)
        if words == "each alone":
            after = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
            change = abs(after - original)[pairs].mean()
            assert change == pytest.approx(awaited["mean |change of correlation|"], abs=2e-6)
        else:  # variables of a slice take more from each other, of the order 1/n
            change = abs(made.correlations.to_numpy() - original)[pairs].mean()
            assert change == pytest.approx(awaited["mean |change of correlation|"], abs=2e-3)
        ratio = np.sqrt(np.diag(covariance)) / spread
        assert abs(ratio - 1).mean() == pytest.approx(awaited["mean |sd ratio - 1|"], abs=2e-6)


def test_the_smallest_cap_is_the_even_kernel_over_all_others() -> None:
    """By hand: (2.5 + 2 + 0.5) / 3."""
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    assert forecast(data, SoftRWN(kernel="gaussian", cap=0.5)).means["x"] == pytest.approx(5 / 3)


def test_a_scan_along_the_width_is_each_forecast_alone() -> None:
    data, params = table(), SETTINGS["exponential with own"]
    settings = [replace(params, width=width, q=q) for width in (0.4, 1.0) for q in (0.5, 1.0)]
    shares: list[float] = []
    scan = forecast_scan(data, settings, progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    for each, setting in zip(scan, settings, strict=True):
        assert each.means.tolist() == forecast(data, setting).means.tolist()


def test_a_large_table_of_which_all_records_give_has_no_forecast_and_says_why() -> None:
    values = np.random.default_rng(8).normal(size=(2100, 2))
    data = Microdata.from_frame(pd.DataFrame(values, columns=["x", "y"]))
    params = SoftRWN(kernel="exponential", bandwidth="absolute", own=True)
    with pytest.raises(ParameterError, match="all pairs of 2,100 records"):
        forecast(data, params)
    assert np.isfinite(forecast(table(), params).means).all()


TIED = SoftRWN(tie=True, balance=1.0, cap=0.3)


def table_of_tied_forecast(n: int = 60, *, holes: bool = False) -> rwn.Microdata:
    """Related numbers, two of them in a slice, and two related categories."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=n)
    values = base[:, None] + 0.5 * rng.normal(size=(5, n)).T
    frame = pd.DataFrame(values[:, :3], columns=["a", "b", "c"])
    frame["g"] = np.where(values[:, 3] > 0, "high", "low")
    frame["h"] = np.where(values[:, 4] > 0.4, "yes", "no")
    if holes:
        frame.loc[rng.random(n) < 0.15, "a"] = np.nan
    return rwn.Microdata.from_frame(frame).with_slices([("a", "b")])


@pytest.mark.parametrize("holes", [False, True])
def test_expected_covariances_and_counts_are_those_of_releases(holes: bool) -> None:
    data = table_of_tied_forecast(holes=holes)
    made = forecast(data, TIED)
    law = TIED.prepare(data).law
    numbers, draws, values = [], 600, data.matrix(["a", "b", "c"])
    for seed in range(draws):
        donors = simulated_donors(law, np.random.default_rng(seed))
        drawn = np.take_along_axis(values, donors[:, :3], axis=0)
        numbers.append(pd.DataFrame(drawn).cov().to_numpy() if holes else np.cov(drawn.T))
    apart = forecast(data, replace(TIED, tie=False))
    expected, without = made.covariances.to_numpy(), apart.covariances.to_numpy()
    error, mean = np.std(numbers, axis=0) / np.sqrt(draws), np.mean(numbers, axis=0)
    assert (np.abs(mean - expected) < 4 * error + 0.01 * holes).all()
    assert (np.abs(mean - without) > 4 * error).any()  # slices drawn apart are another law
    for same in ("means", "mean_variances"):
        pd.testing.assert_series_equal(getattr(made, same), getattr(apart, same))
