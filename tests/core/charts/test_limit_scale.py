"""Scale of the share of a limit: half of the map for the settings that keep all limits."""

from __future__ import annotations

import pytest

from rwn_core.charts import CHARTS
from rwn_core.charts.parts.limit_scale import fit_scale

LOSS = {"title": "Loss", "unit": "share", "falls": True, "share": True}
SHARE = {"title": "share of a limit", "unit": "log above 1", "falls": False, "share": False,
         "of_limits": True}  # fmt: skip


def spot(key: str, x: float, y: float, **more: object) -> dict[str, object]:
    ends = {"x_interval": None, "y_interval": None, "frontier": True, "released": 1.0}
    return {"key": key, "text": key, "x": x, "y": y, "kept": y <= 1, "name": "", **ends, **more}


def test_the_limit_is_in_the_middle_and_half_a_decade_is_a_quarter_of_two() -> None:
    scale = fit_scale([0.2, 20.0, 100.0])
    assert [scale(0.0), scale(0.25), scale(1.0)] == [0.0, 0.25, 1.0]
    assert scale(100.0) == 2.0
    assert scale(10.0) == pytest.approx(1.5)  # half of the decades
    low, high = scale.ends
    assert (low + high) / 2 == pytest.approx(1.0)


def test_ticks_stand_where_their_shares_do() -> None:
    scale = fit_scale([0.4, 20.0])
    ticks = scale.ticks
    assert ticks["ticktext"] == ["0", "0.5", "1", "2", "5", "10", "20"]
    assert ticks["tickvals"] == [scale(float(text)) for text in ticks["ticktext"]]
    assert ticks["tickvals"] == sorted(ticks["tickvals"])
    kept = fit_scale([0.2, 0.9])
    assert kept.ticks["ticktext"] == ["0", "0.5", "1"]
    low, high = kept.ends
    assert low < 0 < 1 < high < 1.2  # the limit is still shown
    assert fit_scale([]).ends == kept.ends


def test_settings_that_keep_the_limits_have_half_of_the_map_and_the_best_a_name() -> None:
    spots = [
        spot("good", 0.2, 0.5, name="ε 2"),
        spot("twin", 0.2005, 0.5, name="ε 2.1"),
        spot("bad", 0.1, 20.0),
    ]
    drawn = CHARTS["sweep_map"](spots, LOSS, SHARE, limit=1.0)
    low, high = drawn["layout"]["yaxis"]["range"]
    assert (1.0 - low) / (high - low) == pytest.approx(0.5)
    (points,) = (t for t in drawn["data"] if t.get("name") == "frontier")
    assert points["y"] == [0.5, 0.5, 2.0]
    assert points["text"][2].endswith("share of a limit: 20")
    names = [t["text"][0] for t in drawn["data"] if t.get("mode") == "markers+text"]
    assert "ε 2" in names
    # where no setting was read, no area is shaded
    shade = next(s for s in drawn["layout"]["shapes"] if s["type"] == "rect")
    assert (shade["x0"], shade["x1"]) == (0.1, 0.2005)
    assert drawn["table"]["columns"]


def test_many_names_on_one_spot_are_left_out_and_none_lies_on_another() -> None:
    spots = [spot(f"s{n}", 0.2 + n / 10_000, 0.5, name=f"ε {n} · k {n} · q 1") for n in range(30)]
    spots.append(spot("bad", 0.9, 5.0))
    drawn = CHARTS["sweep_map"](spots, LOSS, SHARE, limit=1.0)
    named = [t for t in drawn["data"] if t.get("mode") == "markers+text"]
    assert 1 <= len(named) < 8
    assert len({t["textposition"] for t in named}) == len(named)


def test_the_map_of_one_release_has_the_axis_of_the_sweep() -> None:
    """What keeps a limit and what breaks it stand apart, however far another setting is."""
    shares = {"now": 0.76, "A": 1.2, "B": 150.0}
    points = [
        {"label": name, "loss": 0.1, "risk": share, "text": name, "kept": share <= 1, "unread": 0}
        for name, share in shares.items()
    ]
    drawn = CHARTS["risk_utility_map"](points, 1.0, risk="risk ÷ limit", of_limits=True)
    low, high = drawn["layout"]["yaxis"]["range"]
    assert (1.0 - low) / (high - low) == pytest.approx(0.5)
    marks = {trace["name"]: trace for trace in drawn["data"]}
    heights = {name: (marks[name]["y"][0] - low) / (high - low) for name in shares}
    assert heights["A"] - heights["now"] > 0.1
    assert [marks[name]["customdata"] for name in shares] == [[share] for share in shares.values()]
    assert float(drawn["table"]["rows"][2][3]) == 150
    assert drawn["layout"]["yaxis"]["ticktext"][:3] == ["0", "0.5", "1"]
    others = CHARTS["risk_utility_map"](points[:1], 1.0, risk="risk ÷ limit", of_limits=True)
    assert others["layout"]["yaxis"]["range"] == [low, high], "it does not jump"
