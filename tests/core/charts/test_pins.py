"""Marks of pinned settings: where the release of the pin was, in its color, and none elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.charts import CHARTS, chart_marks, serialise, with_pins
from rwn_core.evaluation.audit import audit
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN
from rwn_core.masking.release import mask
from rwn_core.measures.drawing.style import PINS, RELEASED

KEYS = (
    "cooks_distance",
    "mahalanobis",
    "neighborhood_size",
    "nearest_distance",
    "correlation",
    "regression",
    "principal_components",
)


@pytest.fixture(scope="module")
def readings():
    data = load_demo("bodyfat")
    keys = list(KEYS)
    return [audit(data, mask(data, RWN(epsilon=1.0, k=k), seed=1), measures=keys) for k in (8, 5)]


@pytest.mark.parametrize("key", KEYS)
def test_a_chart_shows_the_pins_own_numbers(readings, key: str) -> None:
    before, now = (each[key] for each in readings)
    pinned, chart = CHARTS[key](before), CHARTS[key](now)
    marked = with_pins(chart, {"A": chart_marks(pinned, before)}, now)
    text = serialise(marked)
    assert serialise(with_pins(chart, {}, now)) == serialise(chart), "no pin, no mark"
    if key == "correlation":
        changes = [f"{each.detail.mean_absolute_change:.3f}" for each in (now, before)]
        assert marked["note"] == "mean change {} (A {})".format(*changes)
        return
    assert PINS["A"] in text
    assert PINS["A"] not in serialise(chart)
    assert len(text) < 2 * len(serialise(chart))


def test_the_mark_stands_where_the_release_of_the_pin_was(readings) -> None:
    before, now = (each["cooks_distance"] for each in readings)
    marked = with_pins(
        CHARTS["cooks_distance"](now), {"B": {"title": "Cook’s distance", "level": 0.01}}, now
    )
    (line,) = [s for s in marked["layout"]["shapes"] if s["line"]["color"] == PINS["B"]]
    assert line["y0"] == line["y1"] == 0.01
    before, now = (each["regression"] for each in readings)
    pinned, chart = CHARTS["regression"](before), CHARTS["regression"](now)
    (mark,) = with_pins(chart, {"A": chart_marks(pinned, before)}, now)["data"][
        len(chart["data"]) :
    ]
    (own,) = [
        t for t in pinned["data"] if "markers" in t["mode"] and t["marker"]["color"] == RELEASED
    ]
    np.testing.assert_array_equal(mark["x"], own["x"])


def test_other_variables_and_values_beyond_the_axis_have_no_mark(readings) -> None:
    chart = CHARTS["cooks_distance"](readings[0]["cooks_distance"])
    far = {"A": {"title": chart["title"], "level": 1e9}}
    assert with_pins(chart, far, readings[0]["cooks_distance"])["layout"]["shapes"] == list(
        chart["layout"]["shapes"]
    )
    assert (
        with_pins(chart, {"A": {"title": "Another", "level": 0.0}}, readings[0]["cooks_distance"])
        is chart
    )


def test_two_letters_never_share_a_place(readings) -> None:
    chart = CHARTS["mahalanobis"](readings[0]["mahalanobis"])
    both = {name: {"title": chart["title"], "level": 5.0} for name in "AB"}
    notes = [
        n
        for n in with_pins(chart, both, readings[0]["mahalanobis"])["layout"]["annotations"]
        if n["text"] in "AB"
    ]
    assert len({(n["x"], n["y"]) for n in notes}) == 2
