"""Two boxes from five numbers each."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.measures import nearest_distance
from tests.core.charts.hand_made_readings import index_reading


def test_boxes_hold_the_quartiles_and_whiskers_end_at_records() -> None:
    values = [*range(1, 10), 30]
    chart = nearest_distance.draw(index_reading(values, [2.0] * 10))
    boxes = {t["name"]: t for t in chart["data"] if t["type"] == "box"}
    box = boxes["original"]
    quartiles = np.quantile(values, (0.25, 0.5, 0.75))
    assert [box[q][0] for q in ("q1", "median", "q3")] == quartiles.tolist()
    assert (box["lowerfence"][0], box["upperfence"][0]) == (1.0, 9.0)
    assert boxes["released"]["q1"][0] == boxes["released"]["q3"][0] == 2.0


def test_what_lies_beyond_the_whiskers_is_drawn_as_points() -> None:
    chart = nearest_distance.draw(index_reading([*range(1, 10), 30], [2.0] * 10))
    beyond = [t for t in chart["data"] if t["type"] == "scatter" and t["name"] == "original"]
    assert beyond[0]["x"].tolist() == [30.0]


def test_the_original_box_is_hollow_and_stands_above() -> None:
    chart = nearest_distance.draw(index_reading([1.0, 2.0], [1.0, 2.0]))
    boxes = {t["name"]: t for t in chart["data"] if t["type"] == "box"}
    assert boxes["original"]["fillcolor"] == "rgba(0,0,0,0)"
    assert boxes["original"]["y"] > boxes["released"]["y"]


def test_a_sample_is_named_as_such() -> None:
    reading = index_reading([1.0, 2.0], [1.0, 2.0])
    detail = {**reading.detail, "sampled": True, "of": 9_000}
    chart = nearest_distance.draw(type(reading)(value=1.0, baseline=1.0, detail=detail))
    assert "sample" in chart["note"]
    assert "2 of 9,000" in chart["alt"]
