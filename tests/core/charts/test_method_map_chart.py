"""The map of several methods: a curve each, its matched setting, and nothing on top of a name."""

from __future__ import annotations

import json
from itertools import pairwise

from rwn_core.charts import CHARTS, Chart, serialise
from tests.core.charts.hand_made_readings import HOSTILE

LOSS = {"title": "Correlations", "unit": "mean change", "falls": True, "share": False}
RISK = {"title": "Linkage", "unit": "share", "falls": False, "share": True}


def spot(x: float | None, y: float | None) -> dict:
    pair = None if x is None else (x - 0.01, x + 0.01)
    return {"text": HOSTILE, "x": x, "y": y, "x_interval": pair, "y_interval": None}


def curve(name: str, up: float, matched: dict | None = None) -> dict:
    points = [spot(0.1 * step, up - 0.1 * step) for step in range(4)]
    return {"name": name, "points": points, "matched": matched or points[1]}


CURVES = [curve(HOSTILE, 0.5), curve("noise", 0.9), curve("swapping", 0.7, spot(0.1, None))]


def drawn(curves: list[dict] = CURVES) -> Chart:
    return CHARTS["method_map"](curves, LOSS, RISK, aim=0.1, limit=0.05)


def traces(chart: Chart, mode: str) -> list[dict]:
    return [each for each in chart["data"] if each["mode"] == mode and each["name"] != "interval"]


def test_each_method_has_one_curve_of_its_own_look() -> None:
    lines = traces(drawn([curve(f"m{i}", 0.5 + i / 100) for i in range(15)]), "lines")
    assert [each["name"] for each in lines] == [f"m{i}" for i in range(15)]
    looks = {(each["line"]["color"], each["line"]["dash"]) for each in lines}
    assert len(looks) == 15
    assert lines[3]["x"] == [0.1 * step for step in range(4)]


def test_matched_settings_are_rings_above_all_curves_and_differ_in_size() -> None:
    chart = drawn()
    marks = traces(chart, "markers")
    rings = [each for each in marks if each["name"].endswith(", matched")]
    assert len(rings) == 2  # one has no place
    assert chart["data"].index(rings[0]) > max(
        chart["data"].index(each) for each in traces(chart, "lines")
    )
    assert all(each["marker"]["symbol"].endswith("-open") for each in rings)
    assert len({each["marker"]["size"] for each in rings}) == 2
    assert (rings[0]["x"], rings[0]["y"]) == ([0.1], [0.4])


def test_names_stand_at_the_right_the_riskiest_first_and_apart() -> None:
    labels = [each for each in drawn()["layout"]["annotations"] if each.get("xref") == "paper"]
    names = sorted((each for each in labels if each["xanchor"] == "left"), key=lambda n: -n["y"])
    assert names[0]["text"].endswith("noise")
    assert names[-1]["text"].endswith("swapping")  # it has no place
    heights = [each["y"] for each in names]
    assert all(high - low > 0.05 for high, low in pairwise(heights))
    assert drawn()["layout"]["margin"]["r"] > 60


def test_right_is_better_and_intervals_are_drawn() -> None:
    chart = drawn()
    left, right = chart["layout"]["xaxis"]["range"]
    assert left > right
    crosses = [each for each in chart["data"] if each["name"] == "interval"]
    assert crosses
    assert crosses[0]["x"][:3] == [-0.01, 0.01, None]
    shapes = chart["layout"]["shapes"]
    assert [each["x0"] for each in shapes if each.get("yref") == "paper"] == [0.1]


def test_names_are_text_and_the_table_has_every_setting() -> None:
    chart = drawn()
    parsed = json.loads(serialise(chart))
    assert "<img" not in json.dumps([parsed["data"], parsed["layout"]])
    rows = chart["table"]["rows"]
    assert len(rows) == 3 * 5
    assert sum(row[1] == "yes" for row in rows) == 3
    assert "swapping unread" in chart["alt"]
    assert "noise at 0.100 and 80.0 %" in chart["alt"]
