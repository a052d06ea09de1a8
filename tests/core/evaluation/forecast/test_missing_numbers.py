"""A forecast is exact where numbers are missing, too: every release is counted."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.forecast import expected_sums, forecast
from rwn_core.evaluation.forecast.columns import sample_uniques
from rwn_core.masking import RWN

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "know-the-utility.md"
Q = 0.5


NEAREST = np.array([1, 0, 1, 2])  # whose value a record takes


def every_release(values: np.ndarray) -> list[np.ndarray]:
    """All 16 releases of four records, each with its own value or its neighbor's, alike likely."""
    return [
        values[np.where(taken, NEAREST, np.arange(4))] for taken in product([False, True], repeat=4)
    ]


@pytest.mark.parametrize("third", [9.0, np.nan])
def test_means_and_counts_are_exact(third):
    numbers = np.array([0.0, 30.0, third, 1.0])
    found, releases = forecast(data_of(numbers), RWN(k=1, q=Q)), every_release(numbers)
    expected = np.mean([np.nanmean(values) for values in releases])
    assert found.means["x"] == pytest.approx(expected, abs=1e-12)
    own = [(each == numbers) | (np.isnan(each) & np.isnan(numbers)) for each in releases]
    assert found.cells_intact["x"] == pytest.approx(np.mean(own) * 4)
    levels = every_release(np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.category_counts["g"]["a"] == pytest.approx(np.mean(levels) * 4)


def test_a_ratio_of_expectations_is_seen_to_be_wrong(monkeypatch):
    numbers = np.array([0.0, 30.0, np.nan, 1.0])
    exact = forecast(data_of(numbers), RWN(k=1, q=Q)).means["x"]
    monkeypatch.setattr(expected_sums, "LARGEST_EXACT", 3)
    assert abs(forecast(data_of(numbers), RWN(k=1, q=Q)).means["x"] - exact) > 0.1


def test_a_release_may_lose_all_its_numbers():
    """Where it does there is no mean: the others decide."""
    numbers = np.array([np.nan, 30.0, np.nan, np.nan])
    found = forecast(data_of(numbers), RWN(k=1, q=Q)).means["x"]
    kept = [np.nanmean(each) for each in every_release(numbers) if not np.isnan(each).all()]
    assert len(kept) < 16
    assert found == pytest.approx(np.mean(kept), abs=1e-12) == 30.0


def test_an_integral_of_any_size_is_exact():
    """Against the distribution of the count, added up record by record."""
    rng = np.random.default_rng(3)
    for n in (2, 30, 150):
        known, value = rng.random(n) ** 3, rng.normal(size=n) + 2
        known[0] = 1.0
        points, weights = expected_sums.depths(n)
        both = expected_sums.parts(known[None, :, None], (known * value)[None, :, None], points)
        found = expected_sums.mean_of_known(both[0][0], both[1][0], weights)
        expected = 0.0
        for record in range(n):
            others = np.ones(1)
            for chance in np.delete(known, record):
                others = np.convolve(others, [1 - chance, chance])
            expected += known[record] * value[record] * (others / np.arange(1, n + 1)).sum()
        assert found[0] == pytest.approx(expected, rel=1e-10)


def test_the_words_say_so():
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    largest = f"above {expected_sums.LARGEST_EXACT:,} records only the means of variables without"
    assert largest in page


def test_a_record_without_a_key_is_no_sample_unique():
    data = Microdata.from_frame(pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [5.0, 5.0, 5.0]}))
    assert sample_uniques(data, ["a", "b"]).tolist() == [0, 1]


def data_of(numbers: np.ndarray) -> Microdata:
    frame = pd.DataFrame({"x": numbers, "y": [0.0, 1.0, 3.0, 10.0], "g": list("aabb")})
    return Microdata.from_frame(frame).with_weights({"x": 0.0, "y": 1.0, "g": 0.0})
