"""What every chart keeps, whatever it shows."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rwn_core import charts
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.charts.parts.style import NEUTRAL, ORIGINAL, RELEASED
from rwn_ui.tune import view as tune_view
from tests.core.charts.hand_made_readings import (
    ALL_CHARTS,
    HOSTILE,
    correlation_reading,
    index_reading,
    size_reading,
)

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    [ROOT / "app.py", *(p for folder in ("pages", "rwn_ui") for p in (ROOT / folder).rglob("*.py"))]
)


def strings(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [s for value in node.values() for s in strings(value)]
    if isinstance(node, list):
        return [s for value in node for s in strings(value)]
    return [node] if isinstance(node, str) else []


def chart_files() -> set[str]:
    """The full names of the modules that hold a chart: all but the parts of charts."""
    folder = Path(charts.__file__).parent
    names = {path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py")}
    return {
        ".".join((charts.__name__, *name.parts))
        for name in names
        if name.name != "__init__" and name.parts[0] != "parts"
    }


def imported(source: str) -> set[str]:
    """What a module imports of the charts, as full names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    own = charts.__name__
    return {name for name in found if name == own or name.startswith(f"{own}.")}


def is_allowed(name: str) -> bool:
    """Whether a page may import it: what the package offers, or how all charts are written."""
    own, _, rest = name.removeprefix(charts.__name__).partition(".")
    return not own and rest in {*charts.__all__, "parts.style.shorten"}


def test_the_hand_made_readings_cover_the_cards_of_the_tune_page_in_their_order() -> None:
    assert list(ALL_CHARTS) == ["risk_utility_map", *tune_view.CARDS]


def test_every_file_with_a_chart_is_in_the_catalogue() -> None:
    listed = {draw.__module__ for draw in CHARTS.values()}
    assert listed == chart_files()
    assert len(set(CHARTS.values())) == len(CHARTS)


def test_every_chart_of_the_catalogue_is_drawn_by_hand_in_some_test() -> None:
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    for key, draw in CHARTS.items():
        file = draw.__module__.rpartition(".")[2]
        assert f'CHARTS["{key}"](' in tests or f"{file}.draw(" in tests, key


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_imports_no_file_of_a_chart(path: Path) -> None:
    assert not [name for name in imported(path.read_text("utf-8")) if not is_allowed(name)]


@pytest.mark.parametrize(
    "line",
    [
        "from rwn_core.charts import quantiles",
        "from rwn_core.charts.measures.quantiles import draw",
        "import rwn_core.charts.measures.quantiles",
        "from rwn_core.charts.tuning import sweep_map",
    ],
)
def test_a_page_that_imports_one_is_found(line: str) -> None:
    assert [name for name in imported(line) if not is_allowed(name)]


def test_it_carries_its_key_and_words_for_a_screen_reader(drawn: Chart) -> None:
    assert drawn["key"] in CHARTS
    assert drawn["title"]
    assert len(drawn["alt"].split()) >= 5
    assert not drawn["alt"].endswith(".")
    assert isinstance(drawn["note"], str)


def test_it_is_valid_json_without_nan(drawn: Chart) -> None:
    text = serialise(drawn)
    parsed = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert parsed["data"]
    assert json.loads(parsed["table"])["columns"] == drawn["table"]["columns"]


def test_its_table_is_rectangular_and_holds_no_nan(drawn: Chart) -> None:
    table = drawn["table"]
    assert table["rows"]
    for row in table["rows"]:
        assert len(row) == len(table["columns"])
        assert not any(isinstance(cell, float) and np.isnan(cell) for cell in row)


def test_a_name_that_looks_like_html_reaches_plotly_as_text(drawn: Chart) -> None:
    parsed = json.loads(serialise(drawn))
    for text in strings(parsed["data"]) + strings(parsed["layout"]):
        assert "<img" not in text
    if "img" in drawn["title"]:
        assert HOSTILE in drawn["title"], "the page sets titles as plain text: not escaped twice"


def test_ranges_margins_and_ticks_are_stated_so_that_nothing_is_measured(drawn: Chart) -> None:
    layout = drawn["layout"]
    assert layout["uirevision"]
    assert layout["showlegend"] is False
    assert set(layout["margin"]) >= {"l", "r", "t", "b"}
    for name in ("xaxis", "yaxis"):
        axis = layout[name]
        assert axis["automargin"] is False
        assert len(axis["range"]) == 2
        assert len(axis["tickvals"]) == len(axis["ticktext"]) > 0


def test_original_is_hollow_blue_and_released_filled_vermillion(drawn: Chart) -> None:
    for trace in drawn["data"]:
        if trace["type"] != "scatter" or "markers" not in trace["mode"]:
            continue
        color, symbol = trace["marker"]["color"], trace["marker"]["symbol"]
        assert color in {ORIGINAL, RELEASED, NEUTRAL}
        assert symbol.endswith("-open") == (color != RELEASED)


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


def test_missing_values_leave_gaps_and_no_failure() -> None:
    values = [0.1, np.nan, 0.3, np.inf]
    shown = index_reading(values[:3], [np.nan, 0.2, 0.1])
    for key in ("cooks_distance", "mahalanobis", "nearest_distance"):
        json.loads(serialise(CHARTS[key](shown)))
    constant = correlation_reading()
    square = constant.detail["released"]
    square[1, :] = square[:, 1] = np.nan
    heat = json.loads(serialise(CHARTS["correlation"](constant)))["data"][0]["z"]
    assert heat[0] == [None, None, -0.25]


def test_not_applicable_is_a_card_with_the_reason() -> None:
    chart = draw_reason("Regression", "No question is stated.", "regression")
    assert chart["key"] == "regression"
    assert chart["data"] == []
    assert chart["reason"] == "No question is stated."
    assert "No question is stated." in chart["alt"]
    json.loads(serialise(chart))
