"""What every chart keeps, whatever it shows; and what each of them shows, held as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rwn_core import charts
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise, still
from rwn_core.measures.drawing.style import NEUTRAL, ORIGINAL, RELEASED
from rwn_ui.state import results
from tests.core.charts.drawn_by_hand import every_chart
from tests.core.charts.hand_made_readings import (
    HOSTILE,
    index_reading,
    size_reading,
)
from tests.holding import hold

ALONE = {"association", "risk_utility_map: coinciding", "risk_utility_map: no place"}
OF_REPLAYS = {"published_and_ours", "figure_curves", "figure_boxes"}
"""Whose words for a screen reader are whole sentences."""
SHOWN = 4
"""So many of the values of a long list are written out."""


@pytest.fixture(scope="module")
def drawn() -> dict[str, Chart]:
    """Every chart, in every form that it takes."""
    return every_chart()


def strings(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [s for value in node.values() for s in strings(value)]
    if isinstance(node, list):
        return [s for value in node for s in strings(value)]
    return [node] if isinstance(node, str) else []


def chart_files() -> set[str]:
    """The full names of the modules that define a chart."""
    core, found = Path(charts.__file__).parents[1], set()
    for room in ("charts", "measures/utility", "measures/risk", "evaluation"):
        for path in (core / room).rglob("*.py"):
            if re.search(r"^def draw(_\w+)?\(", path.read_text("utf-8"), re.MULTILINE):
                found.add(".".join(("rwn_core", *path.relative_to(core).with_suffix("").parts)))
    return found


def short(node: Any) -> str:
    """A value in a line: four digits, and of a long list its length, ends and sum."""
    if isinstance(node, float):
        return f"{node + 0.0:.4g}"
    if isinstance(node, dict):
        return "{" + ", ".join(f"{key} {short(value)}" for key, value in node.items()) + "}"
    if not isinstance(node, list):
        return str(node)
    if len(node) <= 2 * SHOWN:
        return "[" + " ".join(map(short, node)) + "]"
    ends = [short(each) for each in (*node[:SHOWN], *node[-SHOWN:])]
    total = sum(each for each in node if isinstance(each, int | float))
    middle = f"... {len(node)} of sum {total:.4g} ..."
    return "[" + " ".join([*ends[:SHOWN], middle, *ends[SHOWN:]]) + "]"


def described(chart: Chart) -> Iterator[str]:
    """All that a chart says and draws, a line for each trace, axis, shape and annotation."""
    parsed = json.loads(serialise(chart))
    del parsed["key"]  # the name of the form begins with it
    for key, value in (parsed | {"table": json.loads(parsed["table"])}).items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for name, part in parts:
            listed = part if isinstance(part, list) and key != "table" else [part]
            for each in listed:
                yield f"{key} {name}: {short(each)}".replace("\n", " ")


def test_what_each_chart_shows(drawn: dict[str, Chart], sentences: Callable[..., None]) -> None:
    lines = {form: list(described(chart)) for form, chart in drawn.items()}
    common = [line for line in next(iter(lines.values())) if all(line in x for x in lines.values())]
    rest = {form: [line for line in each if line not in common] for form, each in lines.items()}
    sentences("chart", {"all": common, **rest})


def test_what_stills_show(drawn: dict[str, Chart], sentences: Callable[..., None]) -> None:
    """Pictures that need no browser, of points, lines, intervals and a heatmap."""
    forms = ("neighborhood_size: by k", "regression: turned", "correlation")
    sentences(
        "still", {form: still(drawn[form]).replace("><", ">\n<").splitlines() for form in forms}
    )


def test_every_chart_is_drawn_by_hand(drawn: dict[str, Chart]) -> None:
    assert {chart["key"] for chart in drawn.values()} == set(CHARTS) - OF_REPLAYS
    assert {
        "risk_utility_map",
        *(each for card in results.CARDS for each in card.view.charts),
    } <= set(drawn)
    assert {getattr(draw, "func", draw).__module__ for draw in CHARTS.values()} == chart_files()
    assert len(set(CHARTS.values())) == len(CHARTS)


def test_it_is_plain_json_with_words_for_a_screen_reader(drawn: dict[str, Chart]) -> None:
    def rule(form: str) -> None:
        chart = drawn[form]
        assert chart["key"] == form.partition(":")[0]
        assert chart["title"]
        assert len(chart["alt"].split()) >= 5
        assert not chart["alt"].endswith(".") or ALONE.intersection([form, chart["key"]])
        assert isinstance(chart["note"], str)
        text = serialise(chart)
        assert len(text.encode()) < 60_000
        parsed = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
        table = json.loads(parsed["table"])
        assert table["columns"] == chart["table"]["columns"]
        assert table["rows"]
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}

    hold(rule, drawn)


def test_a_name_that_looks_like_html_reaches_plotly_as_text(drawn: dict[str, Chart]) -> None:
    def rule(form: str) -> None:
        parsed = json.loads(serialise(drawn[form]))
        assert "<img" not in " ".join(strings([parsed["data"], parsed["layout"]]))
        if "img" in drawn[form]["title"]:  # the page sets titles as text: not escaped twice
            assert HOSTILE in drawn[form]["title"]

    hold(rule, drawn)


def test_ranges_margins_and_ticks_are_stated_so_that_nothing_is_measured(
    drawn: dict[str, Chart],
) -> None:
    def rule(form: str) -> None:
        layout = drawn[form]["layout"]
        assert layout["uirevision"]
        assert layout["showlegend"] is False
        assert set(layout["margin"]) >= {"l", "r", "t", "b"}
        for name in ("xaxis", "yaxis"):
            axis = layout[name]
            assert axis["automargin"] is False
            assert len(axis["range"]) == 2
            assert len(axis["tickvals"]) == len(axis["ticktext"]) > 0

    hold(rule, drawn)


def test_original_is_hollow_blue_and_released_filled_vermillion(drawn: dict[str, Chart]) -> None:
    named = ("sweep_map", "risk_utility_map")

    def rule(form: str) -> None:
        for trace in drawn[form]["data"]:
            if "markers" not in trace.get("mode", "") or form.startswith(named):
                continue
            color, symbol = trace["marker"]["color"], trace["marker"]["symbol"]
            if symbol != "triangle-up":  # an arrow to what lies beyond the axis
                assert color in {ORIGINAL, RELEASED, NEUTRAL}
                assert symbol.endswith("-open") == (color != RELEASED)

    hold(rule, drawn)


def test_twenty_thousand_records_stay_small() -> None:
    random = np.random.default_rng(5)
    values = random.gamma(2.0, size=20_000)
    tall = index_reading(values, values[::-1])
    charts = [
        CHARTS["cooks_distance"](tall),
        CHARTS["mahalanobis"](tall),
        CHARTS["nearest_distance"](tall),
        CHARTS["neighborhood_size"](size_reading(random.integers(5, 5_000, 20_000), values)),
    ]
    for chart in charts:
        assert len(serialise(chart).encode()) < 150_000
        assert len(chart["table"]["rows"]) == 400
        assert "400 of 20,000" in chart["table"]["caption"]


def test_not_applicable_is_a_card_with_the_reason() -> None:
    chart = draw_reason("Regression", "No question is stated.", "regression")
    assert chart["key"] == "regression"
    assert chart["data"] == []
    assert chart["reason"] == "No question is stated."
    assert "No question is stated." in chart["alt"]
    json.loads(serialise(chart))
