"""What a forecast holds exactly where numbers are missing, and what up to a term of order 1/n."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.forecast import forecast
from rwn_core.evaluation.forecast.statistic import Statistic
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
def test_counts_are_exact_and_a_mean_only_where_nothing_is_missing(third):
    numbers = np.array([0.0, 30.0, third, 1.0])
    frame = pd.DataFrame({"x": numbers, "y": [0.0, 1.0, 3.0, 10.0], "g": list("aabb")})
    data = Microdata.from_frame(frame).with_weights({"x": 0.0, "y": 1.0, "g": 0.0})
    found = forecast(data, RWN(k=1, q=Q))
    releases = every_release(numbers)
    expected = np.mean([np.nanmean(values) for values in releases])
    if np.isnan(third):
        assert abs(expected - found.means["x"]) > 0.1
    else:
        assert expected == pytest.approx(found.means["x"], abs=1e-12)
    own = [(each == numbers) | (np.isnan(each) & np.isnan(numbers)) for each in releases]
    assert found.cells_intact["x"] == pytest.approx(np.mean(own) * 4)
    levels = every_release(np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.category_counts["g"]["a"] == pytest.approx(np.mean(levels) * 4)


def test_the_words_say_so():
    assert "means of variables without missing values are exact" in " ".join(
        PAGE.read_text(encoding="utf-8").split()
    )
    assert "variables without missing" in str(Statistic.expected.__doc__)
