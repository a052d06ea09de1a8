"""The map after Duncan et al.: utility to the right, risk upward, a line of tolerable risk."""

from __future__ import annotations

from hand_made_readings import map_points

from rwn_core.charts.parts.style import LIMIT
from rwn_core.charts.tuning import risk_utility_map


def test_points_stand_at_their_utility_and_risk_with_the_present_one_on_top() -> None:
    chart = risk_utility_map.draw(map_points(), 0.05)
    spots = {t["name"]: (t["x"][0], t["y"][0]) for t in chart["data"]}
    assert spots == {"now": (0.9, 0.03), "A": (0.95, 0.09), "B": (0.9, 0.03)}
    assert chart["data"][-1]["name"] == "now"
    assert chart["data"][-1]["marker"]["symbol"] == "diamond"


def test_the_limit_is_a_line_with_the_admissible_region_below_it() -> None:
    layout = risk_utility_map.draw(map_points(), 0.05)["layout"]
    region, rule = layout["shapes"]
    assert region["type"] == "rect"
    assert region["layer"] == "below"
    assert region["y1"] == rule["y0"] == rule["y1"] == 0.05
    assert rule["line"]["color"] == LIMIT
    texts = [a["text"] for a in layout["annotations"]]
    assert "maximum tolerable risk" in texts
    assert any("original data" in t for t in texts)
    assert any("no data" in t for t in texts)


def test_corners_are_the_true_ends_when_the_axes_reach_them() -> None:
    far = [{"label": "now", "utility": 0.01, "risk": 0.99, "text": ""}]
    layout = risk_utility_map.draw(far, 0.05)["layout"]
    texts = {a["text"] for a in layout["annotations"]}
    assert {"original data", "no data"} <= texts
    assert layout["xaxis"]["range"][0] < 0.01 < 1 < layout["xaxis"]["range"][1]
    assert layout["yaxis"]["range"][1] > 1


def test_labels_of_coinciding_points_take_different_sides() -> None:
    same = [{"label": name, "utility": 0.9, "risk": 0.03, "text": ""} for name in ("now", "A", "B")]
    positions = [t["textposition"] for t in risk_utility_map.draw(same, 0.05)["data"]]
    assert len(set(positions)) == 3


def test_a_point_without_a_place_is_in_the_table_only() -> None:
    points = [{"label": "now", "utility": float("nan"), "risk": 0.2, "text": "ε = 1"}]
    chart = risk_utility_map.draw(points, 0.05)
    assert chart["data"] == []
    assert chart["table"]["rows"] == [["now", "ε = 1", None, 0.2, "no"]]


def test_a_risk_that_is_still_to_come_is_a_line_at_its_utility() -> None:
    points = [
        {"label": "now", "utility": 0.7, "risk": None, "text": "ε = 1"},
        {"label": "A", "utility": 0.95, "risk": 0.02, "text": "ε = 0"},
    ]
    chart = risk_utility_map.draw(points, 0.05)
    assert [trace["name"] for trace in chart["data"]] == ["A"]
    rule = chart["layout"]["shapes"][-1]
    assert (rule["x0"], rule["x1"], rule["yref"]) == (0.7, 0.7, "paper")
    assert chart["layout"]["annotations"][-1]["text"] == "now: risk follows"
    assert chart["layout"]["xaxis"]["range"][0] < 0.7
    assert chart["table"]["rows"][0] == ["now", "ε = 1", 0.7, None, "not yet known"]
