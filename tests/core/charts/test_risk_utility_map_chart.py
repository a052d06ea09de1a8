"""The map after Duncan et al.: utility to the right, risk upward, a line of tolerable risk."""

from __future__ import annotations

from rwn_core.charts.parts.style import LIMIT
from rwn_core.charts.tuning import risk_utility_map
from tests.core.charts.hand_made_readings import map_points


def test_points_stand_at_their_utility_and_risk_with_the_present_one_on_top() -> None:
    chart = risk_utility_map.draw(map_points(), 0.05)
    spots = {t["name"]: (t["x"][0], t["y"][0]) for t in chart["data"]}
    assert spots == {"now": (0.9, 0.03), "A": (0.95, 0.09), "B": (0.9, 0.03)}
    assert chart["data"][-1]["name"] == "now"
    assert chart["data"][-1]["marker"]["symbol"] == "diamond"


def test_the_limit_is_a_line_with_the_region_below_it_where_all_limits_are_kept() -> None:
    chart = risk_utility_map.draw(map_points(), 1.0, risk="share of a limit", of_limits=True)
    layout = chart["layout"]
    region, rule = layout["shapes"]
    assert region["type"] == "rect"
    assert region["layer"] == "below"
    assert region["y1"] == rule["y0"] == rule["y1"] == 1.0
    assert rule["line"]["color"] == LIMIT
    assert layout["yaxis"]["title"]["text"] == "risk: share of a limit"
    assert layout["yaxis"]["range"][1] > 1.5
    texts = [a["text"] for a in layout["annotations"]]
    assert "the limit" in texts
    assert any("original data" in t for t in texts)
    assert any("no data" in t for t in texts)


def test_a_limit_on_one_measure_is_a_line_and_no_region() -> None:
    """Below it nothing is allowed yet: the other limits are not on the map."""
    chart = risk_utility_map.draw(map_points(), 0.05)
    (rule,) = chart["layout"]["shapes"]
    assert rule["type"] == "line"
    assert "limit on this measure" in [a["text"] for a in chart["layout"]["annotations"]]
    assert "limit on this measure of 5.0 %" in chart["alt"]
    assert {row[-1] for row in chart["table"]["rows"]} == {"not known"}
    bare = risk_utility_map.draw(map_points(), None)
    assert bare["layout"]["shapes"] == []
    assert "limit on this measure" not in bare["alt"]


def test_the_map_says_of_the_present_setting_what_the_verdict_says() -> None:
    point = {"label": "now", "utility": 0.9, "risk": 0.5, "text": ""}
    for kept, words in ((True, "; all limits are kept"), (False, "; not all limits are kept")):
        chart = risk_utility_map.draw([{**point, "kept": kept}], 1.0, of_limits=True)
        assert chart["alt"].endswith(words)
    far = risk_utility_map.draw([{**point, "risk": 19.9}], 1.0, of_limits=True)
    assert far["layout"]["yaxis"]["range"][1] > 22


def test_a_point_below_the_limit_is_hollow_where_some_limits_were_not_judged() -> None:
    point = {"label": "now", "utility": 0.9, "risk": 0.7, "text": "", "kept": False}
    shown, read = [], []
    for unread in (0, 2):
        chart = risk_utility_map.draw([{**point, "unread": unread}], 1.0, of_limits=True)
        (mark,) = (trace for trace in chart["data"] if trace.get("name") == "now")
        shown.append((mark["marker"]["symbol"], chart["note"]))
        read.append(chart["alt"])
    assert shown == [("diamond", "1 is the limit"), ("diamond-open", "2 limits not judged")]
    assert [text.endswith("; 2 limits not judged") for text in read] == [False, True]


def test_no_word_stands_on_the_line_of_a_limit() -> None:
    """Planted: a limit so low that its line runs through the lower corner."""
    for risk, on_the_line in ((0.06, False), (0.99, True)):
        drawn = risk_utility_map.draw(
            [{"label": "now", "utility": 0.9, "risk": risk, "text": ""}], 0.05
        )
        low, high = drawn["layout"]["yaxis"]["range"]
        (corner,) = (a for a in drawn["layout"]["annotations"] if "no data" in a["text"])
        line = (0.05 - low) / (high - low)
        assert (0 < line < 0.12) == on_the_line
        assert corner["y"] == (line if on_the_line else 0.0)
        assert corner["yanchor"] == "bottom"


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
    assert chart["table"]["rows"] == [["now", "ε = 1", None, 0.2, "not known"]]


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
    assert chart["table"]["rows"][0] == ["now", "ε = 1", 0.7, None, "not known"]


def test_no_data_stand_where_a_table_without_relations_would() -> None:
    point = {"label": "now", "utility": 0.931, "risk": 0.5, "text": ""}

    def ends(nothing: float) -> tuple[dict, list]:
        chart = risk_utility_map.draw([{**point, "nothing": nothing}], None)["layout"]
        (label,) = (a for a in chart["annotations"] if "no data" in a["text"])
        return label, chart["shapes"]

    label, shapes = ends(0.928)  # weak relations: little is lost with all of them
    assert (label["text"], label["x"]) == ("no data", 0.928)
    assert [(line["x0"], line["x1"]) for line in shapes] == [(0.928, 0.928)]
    label, shapes = ends(0.5)
    assert (label["text"], label["x"], shapes) == ("↙ no data", 0, [])
