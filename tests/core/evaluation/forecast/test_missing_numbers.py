"""A forecast where numbers are missing, held against every release."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.forecast import forecast
from rwn_core.masking import RWN
from rwn_core.randomness import SecretKey

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
    own = [(each == numbers) | (np.isnan(each) & np.isnan(numbers)) for each in releases]
    assert found.cells_intact["x"] == pytest.approx(np.mean(own) * 4)
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
