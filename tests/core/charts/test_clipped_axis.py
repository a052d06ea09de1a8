"""One outlier presses no chart flat: it stands at the edge, with its value."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.charts.parts.clipped_axis import beyond_words, clipped


@pytest.mark.parametrize(
    ("files", "bulk"),
    [
        (([1.0, 2, 3, 31],), 3.0),
        (([1.0, 2, 3, 30],), None),  # ten times as large is still on the axis
        (([1.0, 2, 31, 31],), None),  # two of four are no exception
        (([1.0, 2, np.nan, 31], [1.0, 2, 3, 40]), 3.0),  # one of each file
        (([1.0, 2, 3, 50], [1.0, 2, 3, 20]), 20.0),  # an axis up to 20 holds the other file
        (([5.0], [0.1]), None),
        (([0.0, 0, 0, 7],), None),
        (([np.nan],), None),
        ((np.r_[np.ones(1498), 20, 30, 40],), 1.0),  # one in 500
        ((np.r_[np.ones(1398), 20, 30, 40],), None),
    ],
)
def test_an_axis_ends_before_values_ten_times_as_large_as_all_but_a_few(files, bulk) -> None:
    assert clipped(*files) == bulk


def test_words_say_how_many_lie_beyond_and_how_far() -> None:
    assert beyond_words([1, 5021], 10) == "1 record beyond, 5,021"
    assert beyond_words([1, 12, 30.4, np.nan], 10) == "2 records beyond, up to 30.4"
    assert beyond_words([1, 2], 10) == ""
