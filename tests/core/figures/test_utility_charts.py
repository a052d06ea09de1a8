"""The charts of the Utility page: what every chart keeps, and what each one shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_chart_catalogue as catalogue
from hand_made_readings import HOSTILE, correlation_reading, reading

from rwn_core import figures
from rwn_core.figures import Chart, serialise
from rwn_core.reading import Reading


def curve_reading(changes: Any = (0.0, 0.1, 0.4)) -> Reading:
    return reading(
        0.1,
        radii=np.array([0.0, 2.0, 4.0]),
        change=np.asarray(changes, dtype=float),
        changed=np.array([0.5, 0.9, 0.99]),
        now=2.0,
        k=5,
        q=1.0,
        names=["age", "v1", "v2"],
        original=np.eye(3),
        expected=np.eye(3),
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
    "correlation_change": lambda: figures.correlation_change.draw(
        correlation_reading(first=HOSTILE), np.full((3, 3), 0.4)
    ),
    "correlation_change, draw only": lambda: figures.correlation_change.draw(correlation_reading()),
    "expected_curve": lambda: figures.expected_curve.draw(
        curve_reading(), reading(0.12), (0.1, 0.15)
    ),
    "expected_curve, nothing changes": lambda: figures.expected_curve.draw(
        curve_reading((0.0, 1e-17, 0.0)), reading(0.0)
    ),
    "quantiles": lambda: figures.quantiles.draw(quantile_reading([HOSTILE, "b"])),
    "quantiles, many": lambda: figures.quantiles.draw(
        quantile_reading([f"v{place}" for place in range(30)])
    ),
    "subgroups": lambda: figures.subgroups.draw(subgroup_reading()),
    "subgroups, many": lambda: figures.subgroups.draw(subgroup_reading(40, expected=False)),
    "two_way": lambda: figures.two_way.draw(points_reading(first=HOSTILE)),
    "two_way, many": lambda: figures.two_way.draw(points_reading(3000)),
    "two_way, table": lambda: figures.two_way.draw(table_reading()),
}


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
    shown = figures.correlation_change.draw(correlation_reading(), np.full((3, 3), 0.4))
    square = json.loads(serialise(shown))["data"][0]["z"]
    assert square[1][0] == pytest.approx(-0.75)
    assert square[0][1] == pytest.approx(-0.1)
    assert square[0][0] is None
    assert shown["table"]["rows"][0][2:] == [0.5, -0.75, -0.1]


def test_the_curve_marks_the_present_draw() -> None:
    shown = figures.expected_curve.draw(curve_reading(), reading(0.12), (0.1, 0.15))
    names = [trace["name"] for trace in shown["data"]]
    assert names == ["expected", "9 of 10 draws", "this draw"]
    assert shown["data"][-1]["x"] == [2.0]
    assert shown["data"][-1]["y"] == [0.12]
    assert shown["layout"]["shapes"][0]["x0"] == 2.0


def test_the_groups_that_changed_most_are_shown() -> None:
    shown = figures.subgroups.draw(subgroup_reading(40))
    assert len(shown["layout"]["yaxis"]["ticktext"]) == 12
    assert len(shown["table"]["rows"]) == 40
    assert shown["note"].startswith("together −45%")


def test_large_clouds_stand_side_by_side() -> None:
    shown = figures.two_way.draw(points_reading(3000))
    assert [trace["type"] for trace in shown["data"]] == ["heatmap", "heatmap"]
    assert shown["layout"]["xaxis"]["ticktext"] == ["original", "released"]
