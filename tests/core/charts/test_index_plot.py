"""Cook's and Mahalanobis distances by record, with the original's maximum as a line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rwn_core.charts import Chart
from rwn_core.charts.measures import cooks_distance, mahalanobis
from rwn_core.charts.parts.style import ORIGINAL
from rwn_core.measures.measure import Reading
from tests.core.charts.hand_made_readings import index_reading

BOTH = pytest.mark.parametrize("draw", [cooks_distance.draw, mahalanobis.draw])


@BOTH
def test_records_are_counted_from_one(draw: Callable[[Reading], Chart]) -> None:
    chart = draw(index_reading([0.1, 0.9, 0.2], [0.3, 0.1, 0.2]))
    original, released = chart["data"]
    assert original["x"].tolist() == [1, 2, 3]
    assert np.allclose(released["y"], [0.3, 0.1, 0.2])
    assert [a["text"] for a in chart["layout"]["annotations"]] == ["#2", "#1"]
    assert chart["table"]["rows"][1] == [2, 0.9, 0.1]


@BOTH
def test_the_blue_line_is_the_originals_maximum(draw: Callable[[Reading], Chart]) -> None:
    (rule,) = draw(index_reading([0.1, 0.9, 0.2], [0.3, 0.1, 0.2]))["layout"]["shapes"]
    assert rule["y0"] == rule["y1"] == 0.9
    assert rule["line"] == {"color": ORIGINAL, "width": 1.4, "dash": "solid"}


def test_of_two_close_maxima_the_lower_moves_its_name_down() -> None:
    crowded = cooks_distance.draw(index_reading([0.1, 0.9, 0.2], [0.1, 0.88, 0.2]))
    assert [a["yanchor"] for a in crowded["layout"]["annotations"]] == ["bottom", "top"]
    crowded = cooks_distance.draw(index_reading([0.1, 0.88, 0.2], [0.1, 0.9, 0.2]))
    assert [a["yanchor"] for a in crowded["layout"]["annotations"]] == ["top", "bottom"]
    apart = cooks_distance.draw(index_reading([0.1, 0.9, 0.2], [0.1, 0.2, 0.2]))
    assert [a["yanchor"] for a in apart["layout"]["annotations"]] == ["bottom", "bottom"]


def test_dropped_records_keep_their_numbers() -> None:
    reading = index_reading([0.1, 0.9], [0.3, 0.1])
    detail = {**reading.detail, "records_original": np.array([4, 9]), "argmax_original": 9}
    chart = cooks_distance.draw(Reading(value=0.3, baseline=0.9, detail=detail))
    assert chart["data"][0]["x"].tolist() == [5, 10]
    assert chart["layout"]["annotations"][0]["text"] == "#10"
    assert chart["layout"]["annotations"][0]["x"] == 10


def test_many_records_stand_side_by_side_as_densities_with_extremes() -> None:
    values = np.linspace(0, 1, 4_000)
    chart = mahalanobis.draw(index_reading(values, values * 0.5))
    kinds = [t["type"] for t in chart["data"]]
    assert kinds == ["heatmap", "scatter", "heatmap", "scatter"]
    assert max(chart["data"][1]["x"]) <= 4_000 < min(chart["data"][3]["x"])
    assert chart["data"][3]["text"][0] == 4_000
    assert chart["layout"]["xaxis"]["ticktext"] == ["original", "released"]
