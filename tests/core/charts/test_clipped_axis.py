"""One outlier presses no chart flat: it stands at the edge, with its value."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.charts import CHARTS
from rwn_core.charts.parts.clipped_axis import beyond_words, clipped
from tests.core.charts.hand_made_readings import index_reading, size_reading


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


def test_the_outlier_of_an_index_plot_is_named_at_the_edge_with_its_value() -> None:
    original, released = np.linspace(0.01, 0.02, 40), np.linspace(0.01, 0.03, 40)
    original[16] = 5.5
    chart = CHARTS["cooks_distance"](index_reading(original, released))
    assert chart["layout"]["yaxis"]["range"] == [0, 0.04]
    within, arrows, masked = chart["data"]
    assert np.flatnonzero(np.isnan(within["y"])).tolist() == [16]
    assert (arrows["x"].tolist(), arrows["y"].tolist()) == ([17], [0.04])
    assert arrows["customdata"].tolist() == [5.5]
    assert "%{customdata:.3g}" in arrows["hovertemplate"]
    assert "%{y:.3g}" in masked["hovertemplate"]
    assert [note["text"] for note in chart["layout"]["annotations"]] == ["#17: 5.50", "#40"]
    assert chart["note"] == "max 5.50 → 0.0300"
    assert chart["alt"].endswith("; 1 point beyond, 5.50")
    assert chart["layout"]["shapes"] == []  # the line of the original's maximum is beyond


def test_a_lonely_record_does_not_press_the_neighborhoods_flat() -> None:
    nearest = np.linspace(0.1, 1.9, 40)
    nearest[3] = 5021.0
    chart = CHARTS["neighborhood_size"](size_reading(np.arange(5, 45), nearest))
    assert chart["layout"]["yaxis"]["range"][1] == pytest.approx(2.5)
    assert chart["layout"]["annotations"][-1]["text"] == "▲ 1 record beyond, 5,021"
    assert "1 record beyond, 5,021" in chart["alt"]
    assert chart["table"]["rows"][3][2] == 5021.0
