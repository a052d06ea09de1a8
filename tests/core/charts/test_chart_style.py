"""Numbers, names, axes and densities as all charts write them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.charts.parts import style


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


def test_escaping_leaves_no_markup() -> None:
    assert style.escape("a<b & c>d") == "a&lt;b &amp; c&gt;d"


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


def test_tick_texts_have_the_decimals_of_their_spacing() -> None:
    assert style.axis("", 0, 0.25)["ticktext"] == ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25"]
    assert style.axis("", 0, 10)["ticktext"] == ["0", "2", "4", "6", "8", "10"]
    assert style.axis("", 0.5, 1.0, share=True)["ticktext"][0] == "50%"
    assert style.axis("", -4, 0)["ticktext"][0] == "−4"


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
