"""One variable: steps for numbers, paired bars for categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rwn_core.charts.measures import distribution
from tests.core.charts.hand_made_readings import HOSTILE, marginals_reading, reading


def test_steps_follow_the_bins_and_end_on_the_axis() -> None:
    chart = distribution.draw(marginals_reading(), "age")
    original, released, *missing = chart["data"]
    lost = marginals_reading().detail["variables"]["age"]
    assert [bar["y"][1] for bar in missing] == [lost["missing_original"], lost["missing_released"]]
    assert chart["layout"]["annotations"][0]["text"] == "missing"
    assert missing[0]["x"][0] > original["x"][-1], "beside the last bin"
    assert missing[0]["x"][-1] < chart["layout"]["xaxis"]["range"][1]
    assert original["x"].tolist() == [0, 0, 1, 2, 4]
    assert original["y"].tolist() == [0, 3, 5, 2, 0]
    assert released["y"].tolist() == [0, 4, 4, 2, 0]
    assert original["line"]["shape"] == "hv"
    assert original["line"]["dash"] == "solid"
    assert released["line"]["dash"] != "solid"


def test_bars_are_paired_hollow_and_filled() -> None:
    chart = distribution.draw(marginals_reading(), "eyes")
    original, released = chart["data"]
    assert original["x"].tolist() == [7, 3, 0], "missing values have a bar, too"
    assert released["x"].tolist() == [6, 4, 2]
    assert original["marker"]["color"] == "rgba(0,0,0,0)"
    assert original["offset"] + original["width"] <= released["offset"]


def test_missing_values_are_counted_in_the_table() -> None:
    rows = distribution.draw(marginals_reading(), "eyes")["table"]["rows"]
    assert rows == [["blue", 7, 6], [HOSTILE, 3, 4], ["(missing)", 0, 2]]
    rows = distribution.draw(marginals_reading(), "age")["table"]["rows"]
    assert rows[0] == ["0 to 1", 3, 4]
    assert rows[-1] == ["(missing)", 1, 0]


@pytest.mark.parametrize("levels", [10, 11, 300])
def test_rare_levels_are_drawn_together_and_no_record_is_lost(levels: int) -> None:
    counts = np.arange(levels, 0, -1)
    shown: dict[str, Any] = {
        "kind": "categorical",
        "levels": [f"level {i}" for i in range(levels)],
        "original": counts,
        "released": counts[::-1],
        "difference": 0.5,
        "missing_original": 0,
        "missing_released": 0,
    }
    chart = distribution.draw(reading(variables={"job": shown}), "job")
    original, released = chart["data"]
    assert len(original["x"]) == 10
    assert original["x"].sum() == released["x"].sum() == counts.sum()
    assert ("others" in chart["layout"]["yaxis"]["ticktext"][-1]) == (levels > 10)


def test_each_variable_keeps_its_own_zoom() -> None:
    both = marginals_reading()
    one = distribution.draw(both, "age")["layout"]["uirevision"]
    assert one != distribution.draw(both, "eyes")["layout"]["uirevision"]
