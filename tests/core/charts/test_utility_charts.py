"""The charts of the Utility page: what every chart keeps, and what each one shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rwn_core import charts
from rwn_core.charts import CHARTS, Chart, serialise
from rwn_core.evaluation.prediction_bands import Band
from rwn_core.measures.measure import Reading
from tests.core.charts import test_chart_catalogue as catalogue
from tests.core.charts.hand_made_readings import (
    HOSTILE,
    components_reading,
    correlation_reading,
    index_reading,
    marginals_reading,
    reading,
    regression_reading,
)


def curve_reading(values: Any = (0.0, 0.1, 0.4), **more: Any) -> Reading:
    return reading(
        0.1,
        0.0,
        axis="epsilon",
        axis_words="radius ε",
        values=np.array([0.0, 2.0, 4.0]),
        expected=np.asarray(values, dtype=float),
        changed=np.array([0.5, 0.9, 0.99]),
        now=2.0,
        words=f"mean of {HOSTILE}",
        short="mean",
        **{"low": None, "high": None, "share": False, "others": {"k": 5, "q": 1.0}, **more},
    )


def quantile_reading(names: list[str]) -> Reading:
    count = len(names)
    return reading(
        0.1,
        names=names,
        shares=[0.05, 0.5, 0.95],
        original=np.zeros((count, 3)),
        released=np.zeros((count, 3)),
        change=np.linspace(-0.3, 0.2, 3 * count).reshape(count, 3),
    )


def subgroup_reading(count: int = 2, expected: bool = True) -> Reading:
    sizes = np.arange(10, 10 + count)
    return reading(
        0.2,
        groups=[HOSTILE, *(f"g{place}" for place in range(1, count))],
        original=sizes,
        released=sizes - 5,
        expected=sizes - 4.5 if expected else None,
        change=-5 / sizes,
        total_change=-0.45,
        vanished=0,
    )


def points_reading(records: int = 30, first: str = "age") -> Reading:
    values = np.random.default_rng(1).normal(size=(records, 2))
    return reading(
        0.1,
        kind="points",
        names=[first, "bmi"],
        original=values,
        released=values[::-1] * 0.9,
        correlation_original=0.5,
        correlation_released=None,
    )


def table_reading() -> Reading:
    return reading(
        0.25,
        kind="table",
        names=["region", HOSTILE],
        rows=["north", HOSTILE],
        columns=["yes", "no", "(missing)"],
        original=np.array([[5, 5, 1], [4, 4, 1]]),
        released=np.array([[7, 3, 1], [8, 0, 1]]),
    )


DRAWN: dict[str, Callable[[], Chart]] = {
    "correlation_change": lambda: charts.correlation_change.draw(
        correlation_reading(first=HOSTILE), np.full((3, 3), 0.4)
    ),
    "correlation_change, draw only": lambda: charts.correlation_change.draw(correlation_reading()),
    "expected_curve": lambda: charts.expected_curve.draw(curve_reading(), 0.12, (0.1, 0.15)),
    "expected_curve, nothing changes": lambda: charts.expected_curve.draw(
        curve_reading((0.0, 1e-17, 0.0)), 0.0
    ),
    "expected_curve, band and share": lambda: charts.expected_curve.draw(
        curve_reading(low=np.array([0.0, 0.08, 0.3]), high=np.array([0.0, 0.12, 0.5]), share=True),
        None,
    ),
    "quantiles": lambda: charts.quantiles.draw(quantile_reading([HOSTILE, "b"])),
    "quantiles, many": lambda: charts.quantiles.draw(
        quantile_reading([f"v{place}" for place in range(30)])
    ),
    "subgroups": lambda: charts.subgroups.draw(subgroup_reading()),
    "subgroups, many": lambda: charts.subgroups.draw(subgroup_reading(40, expected=False)),
    "two_way": lambda: charts.two_way.draw(points_reading(first=HOSTILE)),
    "two_way, many": lambda: charts.two_way.draw(points_reading(3000)),
    "two_way, table": lambda: charts.two_way.draw(table_reading()),
}


def band(low: Any, high: Any) -> Band:
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return Band(low=low, median=(low + high) / 2, high=high)


def correlation_band(size: int = 3) -> dict[str, Band]:
    low = np.full((size, size), -0.4)
    low[1, 0] = low[0, 1] = -0.1  # the draw's -0.25 lies outside
    return {"released": band(low, np.full((size, size), 0.0))}


STEPS = np.linspace(0.1, 3.0, 40)
WITH_DRAWS: dict[str, Callable[[], Chart]] = {
    "correlation": lambda: CHARTS["correlation"](
        correlation_reading(first=HOSTILE), correlation_band()
    ),
    "correlation_change": lambda: charts.correlation_change.draw(
        correlation_reading(first=HOSTILE), np.full((3, 3), 0.4), correlation_band()
    ),
    "regression": lambda: CHARTS["regression"](
        regression_reading(first=HOSTILE),
        {
            "coefficient_released": band([-1.0, -2.0, -3.0], [0.0, 0.0, -1.0]),
            "se_released": band([0.9] * 3, [1.1] * 3),
        },
    ),
    "principal_components": lambda: CHARTS["principal_components"](
        components_reading(),
        {
            "share_released": band([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]),
            "cumulative_released": band([0.4, 0.7, 1.0], [0.6, 0.9, 1.0]),
        },
    ),
    "cooks_distance": lambda: CHARTS["cooks_distance"](
        index_reading(STEPS, STEPS / 2), {"max_released": band(1.2, 4.0)}
    ),
    "mahalanobis": lambda: CHARTS["mahalanobis"](
        index_reading(STEPS, STEPS / 2), {"max_released": band(1.2, 4.0)}
    ),
    "nearest_distance": lambda: CHARTS["nearest_distance"](
        index_reading(STEPS, STEPS + 1), {"value": band(1.2, 1.4)}
    ),
    "distribution": lambda: CHARTS["distribution"](
        marginals_reading(HOSTILE), HOSTILE, {f"released {HOSTILE}": band([1, 2, 3], [4, 9, 6])}
    ),
    "distribution, categories": lambda: CHARTS["distribution"](
        marginals_reading(), "eyes", {"released eyes": band([5, 3], [7, 5])}
    ),
    "quantiles": lambda: charts.quantiles.draw(
        quantile_reading([HOSTILE, "b"]),
        {"change": band(np.full((2, 3), -0.1), np.full((2, 3), 1))},
    ),
    "two_way": lambda: charts.two_way.draw(points_reading(first=HOSTILE), (0.1, 0.4)),
    "subgroups": lambda: charts.subgroups.draw(
        subgroup_reading(), {"released": band([3, 4], [30, 31])}
    ),
}
DRAWN |= {f"{name}, with draws": draw for name, draw in WITH_DRAWS.items()}


@pytest.fixture(params=list(DRAWN))
def drawn(request: pytest.FixtureRequest) -> Chart:
    return DRAWN[request.param]()


@pytest.mark.parametrize(
    "kept",
    [
        catalogue.test_it_is_valid_json_without_nan,
        catalogue.test_its_table_is_rectangular_and_holds_no_nan,
        catalogue.test_a_name_that_looks_like_html_reaches_plotly_as_text,
        catalogue.test_ranges_margins_and_ticks_are_stated_so_that_nothing_is_measured,
        catalogue.test_original_is_hollow_blue_and_released_filled_vermillion,
    ],
    ids=lambda test: test.__name__,
)
def test_it_keeps_what_every_chart_keeps(drawn: Chart, kept: Callable[[Chart], None]) -> None:
    kept(drawn)


def test_words_for_a_screen_reader(drawn: Chart) -> None:
    assert drawn["title"]
    assert len(drawn["alt"].split()) >= 5
    assert not drawn["alt"].endswith(".")
    assert len(serialise(drawn).encode()) < 60_000


def test_the_change_shows_the_draw_below_and_the_setting_above() -> None:
    shown = charts.correlation_change.draw(correlation_reading(), np.full((3, 3), 0.4))
    square = json.loads(serialise(shown))["data"][0]["z"]
    assert square[1][0] == pytest.approx(-0.75)
    assert square[0][1] == pytest.approx(-0.1)
    assert square[0][0] is None
    assert shown["table"]["rows"][0][2:] == [0.5, -0.75, -0.1]


def test_the_curve_marks_the_present_draw() -> None:
    shown = charts.expected_curve.draw(curve_reading(), 0.12, (0.1, 0.15))
    names = [trace["name"] for trace in shown["data"]]
    assert names == ["expected", "9 of 10 draws", "this draw"]
    assert shown["data"][-1]["x"] == [2.0]
    assert shown["data"][-1]["y"] == [0.12]
    assert shown["layout"]["shapes"][0]["x0"] == 2.0


def test_the_groups_that_changed_most_are_shown() -> None:
    shown = charts.subgroups.draw(subgroup_reading(40))
    assert len(shown["layout"]["yaxis"]["ticktext"]) == 12
    assert len(shown["table"]["rows"]) == 40
    assert shown["note"].startswith("together −45%")


def test_large_clouds_stand_side_by_side() -> None:
    shown = charts.two_way.draw(points_reading(3000))
    assert [trace["type"] for trace in shown["data"]] == ["heatmap", "heatmap"]
    assert shown["layout"]["xaxis"]["ticktext"] == ["original", "released"]


@pytest.mark.parametrize("name", WITH_DRAWS)
def test_the_draws_are_in_the_picture_and_only_of_kinds_that_the_card_paints(name: str) -> None:
    shown = WITH_DRAWS[name]()
    plain = json.loads(serialise(shown))
    pale = [trace for trace in plain["data"] if "9 of 10 draws" in trace.get("name", "")]
    pale += [shape for shape in plain["layout"].get("shapes", []) if shape["type"] == "rect"]
    words = [shown["note"], shown["alt"], *shown["table"]["columns"]]
    assert pale or any("draws" in text for text in words)
    for trace in plain["data"]:
        assert trace["type"] in {"scatter", "heatmap", "bar", "box"}
        assert trace.get("fill") in {None, "tozeroy", "toself"}
        if "marker" in trace and trace["type"] == "scatter":
            symbol = trace["marker"]["symbol"].removesuffix("-open")
            assert symbol in {"circle", "square", "diamond"}


def test_a_pair_outside_the_draws_is_marked() -> None:
    shown = WITH_DRAWS["correlation_change"]()
    (mark,) = [trace for trace in shown["data"] if trace["type"] == "scatter"]
    assert (mark["x"], mark["y"]) == ([0], [1])
    assert shown["note"].endswith("○ 1 outside")
    columns = shown["table"]["columns"]
    assert columns[-3:] == ["9 of 10 draws, from", "9 of 10 draws, to", "this draw"]
    row = shown["table"]["rows"][0]
    assert row[-3:-1] == pytest.approx([-0.6, -0.5])
    assert row[-1] == "outside"


def test_the_slopes_of_other_draws_stand_behind_in_the_originals_units() -> None:
    shown = WITH_DRAWS["regression"]()
    bars = shown["data"][0]
    np.testing.assert_allclose(bars["x"][:2], [-4.0, 0.0])
    assert shown["data"][1]["name"] == "original"
    assert len(shown["table"]["columns"]) == 11


def test_the_curve_shows_a_closed_band_and_the_original() -> None:
    ends = {"low": np.array([4.9, 4.5, 4.0]), "high": np.array([5.1, 5.0, 4.8])}
    expected = curve_reading((5.0, 4.75, 4.4), **ends)
    expected = Reading(value=4.75, baseline=5.0, detail=expected.detail)
    shown = charts.expected_curve.draw(expected, 4.8)
    assert shown["title"] == "Expected mean over ε"
    assert shown["data"][0]["fill"] == "toself"
    assert [shape["y0"] for shape in shown["layout"]["shapes"] if shape.get("xref") == "paper"] == [
        5.0
    ]
    low, high = shown["layout"]["yaxis"]["range"]
    assert 3.5 < low < 4.0
    assert 5.1 < high < 5.6
    assert shown["table"]["columns"][2:4] == ["9 of 10 draws, from", "9 of 10 draws, to"]
