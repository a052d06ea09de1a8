"""Numbers, names, axes, densities and tables as all charts write them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.measures.drawing import style, tables
from rwn_core.measures.drawing.style import beyond_words, clipped
from rwn_core.measures.risk.outliers import RecordValues, paired


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
def test_a_number_has_three_digits_and_a_true_minus(value: float | None, text: str) -> None:
    assert style.number(value) == text


def test_names_are_cut_in_the_middle_where_they_differ_least() -> None:
    assert style.shorten("age", 10) == "age"
    assert style.shorten("household income 2019", 12) == "househo…2019"
    assert len(style.shorten("x" * 80, 12)) == 12


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
    st.integers(2, 8),
)
def test_ticks_lie_inside_and_are_evenly_spaced(low: float, width: float, count: int) -> None:
    high = low + width
    places = style.ticks(low, high, count)
    slack = 1e-6 * max(abs(low), abs(high), width)
    assert all(low - slack <= p <= high + slack for p in places)
    assert len(places) <= 2 * count + 1
    if len(places) > 2:
        gaps = np.diff(places)
        assert np.allclose(gaps, gaps[0], rtol=1e-3, atol=slack)


@given(st.floats(1e-9, 1e9))
def test_the_end_of_an_axis_is_round_and_not_far(value: float) -> None:
    end = style.above(value)
    assert value * (1 - 1e-6) <= end <= 2.0 * value


def test_the_end_of_an_axis_survives_nothing_to_show() -> None:
    assert style.above(0.0) == 1.0
    assert style.above(float("nan")) == 1.0
    assert style.largest([np.nan], []) == 0.0


def test_a_density_counts_every_record_once_and_leaves_empty_cells_clear() -> None:
    edges = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])
    trace = style.density([0.5, 0.5, 1.5, np.nan], [0.5, 0.5, 1.5, 1.0], style.ORIGINAL, edges)
    counts = [[None if v is None else round(np.expm1(v)) for v in row] for row in trace["z"]]
    assert counts == [[2, None], [None, 1]]


def test_extremes_are_the_largest_known_values_largest_first() -> None:
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
def test_an_axis_ends_before_values_ten_times_as_large_as_all_but_a_few(files, bulk) -> None:
    assert clipped(*files) == bulk


def test_words_say_how_many_lie_beyond_and_how_far() -> None:
    assert beyond_words([1, 5021], 10) == "1 record beyond, 5,021"
    assert beyond_words([1, 12, 30.4, np.nan], 10) == "2 records beyond, up to 30.4"
    assert beyond_words([1, 2], 10) == ""


def test_a_long_table_keeps_the_largest_and_says_so() -> None:
    values = np.arange(1000.0)
    table = tables.table(["record", "value"], [np.arange(1000), values], rank=1)
    assert len(table["rows"]) == tables.TABLE_ROWS
    assert table["rows"][0] == [999, 999.0]
    assert table["caption"] == "400 of 1,000 rows: the largest by value."
    assert "caption" not in tables.table(["value"], [values[: tables.TABLE_ROWS]])


def test_records_in_any_order_keep_their_own_values() -> None:
    detail = RecordValues(
        original=np.array([1.0, 2.0]),
        records_original=np.array([7, 0]),
        released=np.array([3.0, 4.0]),
        records_released=np.array([7, 0]),
    )
    assert paired(detail, "distance")["rows"] == [[8, 1.0, 3.0], [1, 2.0, 4.0]]
    detail = replace(detail, records_released=np.array([0, 7]))
    assert paired(detail, "distance")["rows"] == [[1, 2.0, 3.0], [8, 1.0, 4.0]]


def test_what_speaks_of_single_records_is_internal() -> None:
    assert tables.table(["record", "value"], [[1, 2], [0.5, 0.7]])["internal"] is True
    assert tables.table(["question", "no match"], [["x ≥ 2"], [0.5]])["internal"] is True
    assert "internal" not in tables.table(["variable", "value"], [["x"], [0.5]])
