"""The map of a sweep and the surface over two parameters."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rwn_core.charts import Chart, serialise
from rwn_core.charts.tuning import parameter_surface, risk_utility_map, sweep_map
from tests.core.charts.hand_made_readings import HOSTILE, map_points

LOSS = {"title": "Correlations", "unit": "mean change", "falls": True, "share": False}
RISK = {"title": "Linkage", "unit": "share", "falls": False, "share": True}
SHARE = {"title": "of a limit", "unit": "1 is all", "falls": False, "share": False} | {
    "of_limits": True
}


def spot(key: str, x: float | None, y: float | None, *, frontier: bool = False) -> dict:
    pair = None if x is None else (x - 0.01, x + 0.01)
    return {
        "key": key,
        "text": HOSTILE + key,
        "x": x,
        "y": y,
        "x_interval": pair,
        "y_interval": None,
        "frontier": frontier,
        "kept": key == "b",
        "released": 0.25 if key == "c" else 1.0,
    }


SPOTS = [
    spot("a", 0.05, 0.2, frontier=True),
    spot("b", 0.1, 0.1, frontier=True),
    spot("c", 0.12, 0.15),
    spot("d", None, 0.1),
]
MARKS = [
    {"label": "original data", "text": "as it is", "x": 0.0, "y": 1.0},
    {"label": "no data", "text": "shuffled", "x": 0.12, "y": 0.08},
    {"label": "now", "text": "ε = 1", "x": 0.07, "y": 0.12},
    {"label": "Careful", "text": "ε = 2", "x": 0.11, "y": 0.11},
]


@pytest.fixture
def drawn() -> Chart:
    return sweep_map.draw(SPOTS, LOSS, SHARE, limit=0.12, paths=[[0, 1, 3]], marks=MARKS)


def trace(chart: Chart, name: str) -> dict:
    return next(t for t in chart["data"] if t["name"] == name)


def test_right_is_better_and_up_is_riskier(drawn: Chart) -> None:
    left, right = drawn["layout"]["xaxis"]["range"]
    assert left > 0.12 > 0.05 > right, "a loss falls to the right"
    assert "reversed: right is better" in drawn["layout"]["xaxis"]["title"]["text"]
    low, high = drawn["layout"]["yaxis"]["range"]
    assert low < 0.1 < 0.2 < high
    assert "reversed" not in drawn["layout"]["yaxis"]["title"]["text"]
    turned = sweep_map.draw(SPOTS, RISK, {**RISK, "falls": True})
    assert turned["layout"]["yaxis"]["range"][0] > turned["layout"]["yaxis"]["range"][1]
    assert "up is riskier" in turned["layout"]["yaxis"]["title"]["text"]


def test_points_carry_the_key_of_their_setting(drawn: Chart) -> None:
    assert trace(drawn, "frontier")["customdata"] == ["a", "b"]
    assert trace(drawn, "setting")["customdata"] == ["c"]
    assert trace(drawn, "frontier line")["x"] == [0.05, 0.1]
    assert trace(drawn, "slice")["x"] == [0.05, 0.1, None], "a point without a place is no link"
    assert trace(drawn, "interval")["x"][:2] == [0.05 - 0.01, 0.05 + 0.01]


def test_the_ends_of_the_map_stand_there_or_are_named_in_their_corner(drawn: Chart) -> None:
    assert trace(drawn, "no data")["marker"]["symbol"] == "circle-open"
    texts = [a["text"] for a in drawn["layout"]["annotations"]]
    assert "original data ↗" in texts
    assert "the limit" in texts
    assert drawn["data"][-1]["name"] == "now"


def test_the_limit_shades_what_is_tolerated(drawn: Chart) -> None:
    region, rule = drawn["layout"]["shapes"]
    assert region["y1"] == rule["y0"] == 0.12
    assert region["y0"] < drawn["layout"]["yaxis"]["range"][0]
    assert "1 of them keep all limits" in drawn["alt"]
    assert drawn["note"].endswith("1 keep all limits")
    alone = sweep_map.draw(SPOTS, LOSS, RISK, limit=0.2)
    assert len(alone["layout"]["shapes"]) == 1, "a limit on one measure allows nothing by itself"
    assert "1 of them keep all limits; the limit on Linkage alone is 20.0 %" in alone["alt"]


def test_every_setting_is_in_the_table(drawn: Chart) -> None:
    assert len(drawn["table"]["rows"]) == 4
    released = drawn["table"]["columns"].index("records released")
    assert [row[released] for row in drawn["table"]["rows"]] == [1.0, 1.0, 0.25, 1.0]
    assert trace(drawn, "setting")["text"][0].endswith("c<br>Records released: 25.0 %")
    assert "Records released" not in str(trace(drawn, "frontier")["text"])
    assert drawn["table"]["rows"][3][1] is None


def test_a_map_without_a_finished_setting_is_a_map() -> None:
    chart = sweep_map.draw([], LOSS, RISK, limit=None)
    json.loads(serialise(chart))
    assert chart["note"].startswith("0 settings")


ACROSS = {"title": "ε", "values": [0, 1, 2]}
DOWN = {"title": "k", "values": [3, 5]}
VALUES = [[0.01, 0.02, np.nan], [0.2, 0.3, 0.4]]


def test_a_surface_has_a_cell_for_each_pair() -> None:
    chart = parameter_surface.draw(VALUES, ACROSS, DOWN, {**RISK, "better": "lower"}, limit=0.25)
    heat = json.loads(serialise(chart))["data"][0]
    assert np.allclose(heat["z"][1], [0.2, 0.3, 0.4])
    assert heat["z"][0][2] is None
    assert (heat["zmin"], heat["zmax"]) == (0.01, 0.4)
    assert chart["layout"]["xaxis"]["ticktext"] == ["0", "1", "2"]
    assert heat["text"] == [["1.0 %", "2.0 %", ""], ["20 %", "(30 %)", "(40 %)"]]
    assert chart["table"]["rows"][0] == ["3", 0.01, 0.02, None]


def test_a_forecast_cell_is_marked_as_one() -> None:
    guessed = [[False, True, True], [False, False, True]]
    risk = {**RISK, "better": "lower", "where": "q = 1"}
    chart = parameter_surface.draw(VALUES, ACROSS, DOWN, risk, limit=0.25, forecast=guessed)
    heat = chart["data"][0]
    assert heat["text"] == [["1.0 %", "~2.0 %", ""], ["20 %", "(30 %)", "(~40 %)"]]
    assert "forecast" in chart["note"]
    assert "at q = 1" in chart["alt"]
    assert "forecasts" in chart["table"]["caption"]


def test_a_surface_without_numbers_is_a_surface() -> None:
    empty = parameter_surface.draw(
        np.full((2, 3), np.nan), ACROSS, DOWN, {**LOSS, "better": "higher"}
    )
    json.loads(serialise(empty))
    flat = parameter_surface.draw(np.ones((2, 3)), ACROSS, DOWN, {**LOSS, "better": "neutral"})
    assert flat["data"][0]["zmax"] > flat["data"][0]["zmin"]


@pytest.mark.parametrize("which", ["map", "surface"])
def test_names_are_escaped_and_nothing_is_measured_by_the_browser(drawn: Chart, which: str) -> None:
    chart = drawn
    if which == "surface":
        across = {"title": HOSTILE, "values": [HOSTILE]}
        chart = parameter_surface.draw(
            [[0.1]], across, DOWN | {"values": [3]}, {**RISK, "better": "lower"}
        )
    parsed = json.loads(serialise(chart))
    assert "<img" not in json.dumps([parsed["data"], parsed["layout"]])
    for name in ("xaxis", "yaxis"):
        axis = parsed["layout"][name]
        assert axis["automargin"] is False
        assert len(axis["tickvals"]) == len(axis["ticktext"]) > 0


def test_the_tune_map_shows_a_sweep_behind_the_present_setting() -> None:
    swept = [
        {"label": "", "utility": 0.9, "risk": 0.1, "text": "a", "frontier": True},
        {"label": "", "utility": 0.95, "risk": 0.2, "text": "b", "frontier": True},
        {"label": "", "utility": 0.8, "risk": float("nan"), "text": "c", "frontier": False},
    ]
    chart = risk_utility_map.draw(map_points(), 0.05, swept)
    assert [t["name"] for t in chart["data"][:2]] == ["sweep", "frontier"]
    assert chart["data"][0]["x"] == [0.9, 0.95]
    assert chart["data"][-1]["name"] == "now"
