"""Charts: the catalogue, style, scales of limits, pins."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core import RWN, audit, charts, load_demo, mask
from rwn_core.charts import CHARTS, Chart, chart_marks, draw_reason, serialise, with_pins
from rwn_core.charts.parts.map_marks import fit_scale
from rwn_core.measures.drawing import style, tables
from rwn_core.measures.drawing.style import NEUTRAL, ORIGINAL, PINS, RELEASED, beyond_words, clipped
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.outliers import RecordValues, paired
from rwn_ui.state import results
from tests.core.charts.drawn_by_hand import HOSTILE, every_chart, index_reading, size_reading
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


def test_what_each_chart_shows(drawn, sentences):
    lines = {form: list(described(chart)) for form, chart in drawn.items()}
    common = [line for line in next(iter(lines.values())) if all(line in x for x in lines.values())]
    rest = {form: [line for line in each if line not in common] for form, each in lines.items()}
    sentences("chart", {"all": common, **rest})


def test_every_chart_is_drawn_by_hand(drawn):
    assert {chart["key"] for chart in drawn.values()} == set(CHARTS) - OF_REPLAYS
    cards = (each for card in results.CARDS for each in card.charts)
    assert {"risk_utility_map", *cards} <= set(drawn)
    # the full names of the modules that define a chart
    core = Path(charts.__file__).parents[1]
    found = set()
    for room in ("charts", "measures/utility", "measures/risk", "evaluation"):
        for path in (core / room).rglob("*.py"):
            if re.search(r"^def draw(_\w+)?\(", path.read_text("utf-8"), re.MULTILINE):
                found.add(".".join(("rwn_core", *path.relative_to(core).with_suffix("").parts)))
    assert {getattr(draw, "func", draw).__module__ for draw in CHARTS.values()} == found
    assert len(set(CHARTS.values())) == len(CHARTS)


def test_it_is_plain_json_with_words_for_a_screen_reader(drawn):
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


def test_a_name_that_looks_like_html_reaches_plotly_as_text(drawn):
    def rule(form: str) -> None:
        parsed = json.loads(serialise(drawn[form]))
        assert "<img" not in " ".join(strings([parsed["data"], parsed["layout"]]))
        if "img" in drawn[form]["title"]:  # the page sets titles as text: not escaped twice
            assert HOSTILE in drawn[form]["title"]

    hold(rule, drawn)


def test_ranges_margins_and_ticks_are_stated_so_that_nothing_is_measured(drawn):
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


def test_original_is_hollow_blue_and_released_filled_vermillion(drawn):
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


def test_twenty_thousand_records_stay_small():
    random = np.random.default_rng(5)
    values = random.gamma(2.0, size=20_000)
    tall = index_reading(values, values[::-1])
    sizes = size_reading(random.integers(5, 5_000, 20_000), values)
    drawn = dict.fromkeys(("cooks_distance", "mahalanobis", "nearest_distance"), tall)
    for key, reading in (drawn | {"neighborhood_size": sizes}).items():
        chart = CHARTS[key](reading)
        assert len(serialise(chart).encode()) < 150_000
        assert len(chart["table"]["rows"]) == 400
        assert "400 of 20,000" in chart["table"]["caption"]


def test_not_applicable_is_a_card_with_the_reason():
    chart = json.loads(serialise(draw_reason("Regression", "No question is stated.", "regression")))
    assert (chart["key"], chart["data"]) == ("regression", [])
    assert chart["reason"] in chart["alt"]
    assert chart["reason"] == "No question is stated."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7541, "0.754"),
        (10.866, "10.9"),
        (118.08, "118"),
        (-0.0321, "−0.0321"),
        (0.0, "0"),
        (0.00000123, "1.23e−06"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_a_number_has_three_digits_and_a_true_minus(value, text):
    assert style.number(value) == text


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 8))
def test_ticks_lie_inside_and_are_evenly_spaced(low, width, count):
    high = low + width
    places = style.ticks(low, high, count)
    slack = 1e-6 * max(abs(low), abs(high), width)
    assert all(low - slack <= p <= high + slack for p in places)
    assert len(places) <= 2 * count + 1
    if len(places) > 2:
        gaps = np.diff(places)
        assert np.allclose(gaps, gaps[0], rtol=1e-3, atol=slack)


@given(st.floats(1e-9, 1e9))
def test_the_end_of_an_axis_is_round_and_not_far(value):
    assert value * (1 - 1e-6) <= style.above(value) <= 2.0 * value
    assert style.above(0.0) == style.above(float("nan")) == 1.0
    assert style.largest([np.nan], []) == 0.0


def test_a_density_counts_every_record_once_and_leaves_empty_cells_clear():
    edges = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])
    trace = style.density([0.5, 0.5, 1.5, np.nan], [0.5, 0.5, 1.5, 1.0], style.ORIGINAL, edges)
    counts = [[None if v is None else round(np.expm1(v)) for v in row] for row in trace["z"]]
    assert counts == [[2, None], [None, 1]]
    # extremes are the largest known values, largest first
    assert style.extremes([1.0, np.nan, 3.0, np.inf, 2.0], 2).tolist() == [2, 4]
    assert style.extremes([1.0, 3.0], 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("files", "bulk"),
    [
        (([1.0, 2, 3, 31],), 3.0),
        (([1.0, 2, 3, 30],), None),  # ten times as large is still on the axis
        (([1.0, 2, 31, 31],), None),  # two of four are no exception
        (([1.0, 2, np.nan, 31], [1.0, 2, 3, 40]), 3.0),  # one of each file
        (([1.0, 2, 3, 50], [1.0, 2, 3, 20]), 20.0),  # an axis up to 20 holds the other file
        (([5.0], [0.1]), None),
        (([0.0, 0, 0, 7],), None),
        (([np.nan],), None),
        ((np.r_[np.ones(1498), 20, 30, 40],), 1.0),  # one in 500
        ((np.r_[np.ones(1398), 20, 30, 40],), None),
    ],
)
def test_an_axis_ends_before_values_ten_times_as_large_as_all_but_a_few(files, bulk):
    assert clipped(*files) == bulk
    assert beyond_words([1, 12, 30.4, np.nan], 10) == "2 records beyond, up to 30.4"
    assert beyond_words([1, 2], 10) == ""


def test_a_long_table_keeps_the_largest_and_says_so():
    values = np.arange(1000.0)
    table = tables.table(["record", "value"], [np.arange(1000), values], rank=1)
    assert len(table["rows"]) == tables.TABLE_ROWS
    assert table["rows"][0] == [999, 999.0]
    assert table["caption"] == "400 of 1,000 rows: the largest by value."
    assert "caption" not in tables.table(["value"], [values[: tables.TABLE_ROWS]])
    # what speaks of single records is internal
    assert tables.table(["record", "value"], [[1, 2], [0.5, 0.7]])["internal"] is True
    assert tables.table(["question", "no match"], [["x ≥ 2"], [0.5]])["internal"] is True
    assert "internal" not in tables.table(["variable", "value"], [["x"], [0.5]])


def test_records_in_any_order_keep_their_own_values():
    values = {"original": np.array([1.0, 2.0]), "released": np.array([3.0, 4.0])}
    records = {f"records_{side}": np.array([7, 0]) for side in values}
    detail = RecordValues(**values, **records)
    assert paired(detail, "distance")["rows"] == [[1, 2.0, 4.0], [8, 1.0, 3.0]]
    detail = replace(detail, records_released=np.array([0, 7]))
    assert paired(detail, "distance")["rows"] == [[1, 2.0, 3.0], [8, 1.0, 4.0]]


LOSS = {"title": "Loss", "unit": "share", "falls": True, "share": True}
SHARE = {"title": "share of a limit", "unit": "", "falls": False, "share": False,
         "of_limits": True}  # fmt: skip


def spot(key: str, x: float, y: float, **more: object) -> dict[str, object]:
    ends = {"x_interval": None, "y_interval": None, "frontier": True, "released": 1.0}
    return {"key": key, "text": key, "x": x, "y": y, "kept": y <= 1, "name": "", **ends, **more}


def test_the_limit_is_in_the_middle_and_ticks_stand_where_their_shares_do():
    scale = fit_scale([0.2, 20.0, 100.0])
    assert [scale(share) for share in (0.0, 0.25, 1.0, 100.0)] == [0.0, 0.25, 1.0, 2.0]
    assert scale(10.0) == pytest.approx(1.5)  # half of the decades
    assert sum(scale.ends) / 2 == pytest.approx(1.0)
    kept = fit_scale([0.2, 0.9])
    low, high = kept.ends
    assert low < 0 < 1 < high < 1.2  # the limit is still shown
    assert fit_scale([]).ends == kept.ends


def test_ticks_of_limits_are_words_where_the_axis_is_about_limits_alone():
    scale = fit_scale([0.4, 20.0])
    ticks = scale.ticks_in_words
    words = ["2 times", "5 times", "10 times", "20 times"]
    assert ticks["ticktext"] == ["0", "half", "limit", *words]
    assert ticks["tickvals"] == [scale(share) for share in (0, 0.5, 1, 2, 5, 10, 20)]
    assert scale.ticks["ticktext"] == ["0", "0.5", "1", "2", "5", "10", "20"]
    assert fit_scale([0.2, 0.9]).ticks_in_words["ticktext"] == ["0", "half", "limit"]


def test_settings_that_keep_the_limits_have_half_of_the_map_and_the_best_a_name():
    spots = [spot("good", 0.2, 0.5, name="ε 2"), spot("twin", 0.2005, 0.5, name="ε 2.1")]
    spots.append(spot("bad", 0.1, 20.0))
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


def test_many_names_on_one_spot_are_left_out_and_none_lies_on_another():
    spots = [spot(f"s{n}", 0.2 + n / 10_000, 0.5, name=f"ε {n} · k {n} · q 1") for n in range(30)]
    spots.append(spot("bad", 0.9, 5.0))
    drawn = CHARTS["sweep_map"](spots, LOSS, SHARE, limit=1.0)
    named = [t for t in drawn["data"] if t.get("mode") == "markers+text"]
    assert 1 <= len(named) < 8
    assert len({t["textposition"] for t in named}) == len(named)


def test_the_map_of_one_release_has_the_axis_of_the_sweep():
    """What keeps a limit and what breaks it stand apart, however far another setting is."""
    points = [
        {"label": name, "loss": 0.1, "risk": share, "text": name, "kept": share <= 1, "unread": 0}
        for name, share in {"now": 0.76, "A": 1.2, "B": 150.0}.items()
    ]
    drawn, alone = (
        CHARTS["risk_utility_map"](some, 1.0, risk="risk against its limit", of_limits=True)
        for some in (points, points[:1])
    )
    low, high = drawn["layout"]["yaxis"]["range"]
    assert (1.0 - low) / (high - low) == pytest.approx(0.5)
    assert alone["layout"]["yaxis"]["range"] == [low, high], "it does not jump"
    marks = {trace["name"]: trace for trace in drawn["data"]}
    assert (marks["A"]["y"][0] - marks["now"]["y"][0]) / (high - low) > 0.1
    assert marks["B"]["customdata"] == [150.0]
    assert float(drawn["table"]["rows"][2][3]) == 150


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
def test_a_chart_shows_the_pins_own_numbers(readings, key):
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


def test_the_mark_stands_where_the_release_of_the_pin_was(readings):
    now = readings[1]["cooks_distance"]
    pin = {"B": {"title": "Cook’s distance", "level": 0.01}}
    marked = with_pins(CHARTS["cooks_distance"](now), pin, now)
    (line,) = [s for s in marked["layout"]["shapes"] if s["line"]["color"] == PINS["B"]]
    assert line["y0"] == line["y1"] == 0.01
    before, now = (each["regression"] for each in readings)
    pinned, chart = CHARTS["regression"](before), CHARTS["regression"](now)
    marked = with_pins(chart, {"A": chart_marks(pinned, before)}, now)["data"]
    (mark,) = marked[len(chart["data"]) :]
    points = [trace for trace in pinned["data"] if "markers" in trace["mode"]]
    (own,) = [trace for trace in points if trace["marker"]["color"] == RELEASED]
    np.testing.assert_array_equal(mark["x"], own["x"])


def test_other_variables_and_values_beyond_the_axis_have_no_mark(readings):
    reading = readings[0]["cooks_distance"]
    chart = CHARTS["cooks_distance"](reading)
    far = {"A": {"title": chart["title"], "level": 1e9}}
    shapes = with_pins(chart, far, reading)["layout"]["shapes"]
    assert shapes == list(chart["layout"]["shapes"])
    assert with_pins(chart, {"A": {"title": "Another", "level": 0.0}}, reading) is chart
    # two letters never share a place
    both = {name: {"title": chart["title"], "level": 0.01} for name in "AB"}
    notes = with_pins(chart, both, reading)["layout"]["annotations"]
    assert len({(note["x"], note["y"]) for note in notes if note["text"] in ("A", "B")}) == 2


LONG = {
    "ends": ["hours_worked_per_week_main_job", "hours_worked_per_week_second_job", "age"],
    "beginnings": ["net_income_of_the_household", "gross_income_of_the_household"],
    "middles": [f"answer_to_question_{n}_of_the_interview" for n in range(12)],
    "one letter": [f"{'x' * 30}{letter}{'y' * 30}" for letter in "abcdefghij"],
    "lists": [
        *(f"{'answer, ' * 9}{n}, {'answer, ' * 9}more" for n in "ab"),
        f"one {'of ' * 30}more",
    ],
    "wide letters": [
        "家庭年收入不含政府补贴和其他转移支付, household_income_before_taxes",
        "家庭年收入不含政府补贴和其他转移支付",
        "家庭年收入不含政府补贴",
        "Alter",
        "年龄",
    ],
    "numbers": [f"municipality_of_residence_{year}" for year in range(2010, 2024)],
}


@pytest.mark.parametrize("length", [9, 18, 60])
@pytest.mark.parametrize("names", LONG.values(), ids=LONG)
def test_no_two_names_become_equal_and_what_fits_is_whole(names: list[str], length: int) -> None:
    short = style.short_names(names, length)
    assert len(set(short)) == len(names)
    assert max(map(style.letters, short)) <= length
    whole = zip(short, names, strict=True)
    assert all(cut == name for cut, name in whole if style.letters(name) <= length)
    assert style.short_names(["a", "a", "b"], 9) == ["a", "a", "b"]  # they occur twice
    assert style.shorten("household income 2019", 12) == "househo…2019"
    assert style.shorten("age", 10) == "age"


def long_named() -> rwn.Microdata:
    """A table with long names that differ in the middle."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(draw.normal(size=(90, len(LONG["middles"]))), columns=LONG["middles"])
    frame["place_where_the_interview_took_place"] = draw.choice(LONG["ends"], 90)
    data = rwn.Microdata.from_frame(frame)
    question = rwn.Question(response=LONG["middles"][0], predictors=tuple(LONG["middles"][1:]))
    return data.with_schema(replace(data.schema, question=question))


def holds_names_apart_and_whole(chart: str, made: dict[str, Any]) -> None:
    """Hold that no two names of an axis are equal, and that the full view has them whole."""
    for side in ("xaxis", "yaxis"):
        axis = made["layout"][side]
        shown = [text for text in axis["ticktext"] if text]
        assert len(set(shown)) == len(shown), (chart, shown)
        cut = [text for text in shown if "…" in text]
        full = made.get("large", {}).get(side, {}).get("ticktext", [])
        assert not cut or not any("…" in text for text in full), chart
        assert not cut or full, chart


def test_every_chart_names_all_variables_apart_and_whole_in_its_full_view() -> None:
    data = long_named()
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=1)
    for key, reading in rwn.audit(data, release).readings.items():
        for chart, draw_it in rwn.MEASURES[key].charts.items():
            if isinstance(reading, Reading) and chart in CHARTS:
                holds_names_apart_and_whole(chart, draw_it(reading))
