"""Marks of a table: it is known again by them in any order and type, and nobody reads a value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.reporting.table_marks import SKETCH, common_columns, common_records, table_marks
from tests.core.reporting.test_ledger import marks

KEY = b"k" * 32


def people(rows: range, seed: int = 1) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(12_000, 3)).round(4)[rows.start : rows.stop]
    frame = pd.DataFrame(values, columns=["x", "y", "z"])
    return frame.assign(g=[f"Zaphod {i % 7}" for i in rows])


def table(rows: range, seed: int = 1) -> Microdata:
    return Microdata.from_frame(people(rows, seed))


def test_marks_know_a_table_again_in_any_order() -> None:
    data = table(range(300))
    marks = table_marks(data, KEY)
    shuffled = data.take(np.random.default_rng(3).permutation(300))
    again = table_marks(shuffled, KEY)
    assert again["table"] != marks["table"]
    assert common_records(marks, again) == 1.0
    assert common_columns(marks, again) == 4
    # under another key nothing is alike: marks cannot be tried without it
    other = table_marks(data, b"o" * 32)
    assert not set(other["records"]) & set(marks["records"])
    assert common_columns(other, marks) == 0


@pytest.mark.parametrize(
    ("first", "second", "true"), [(8000, 4000, 0.5), (8000, 4000, 0.1), (11_000, 100, 1.0)]
)
def test_the_share_of_common_records_is_estimated(first: int, second: int, true: float) -> None:
    """A later wave, of which a known share was there before; and a small part of a large table."""
    start = int(first - true * second)
    one, two = table(range(first)), table(range(start, start + second))
    overlap = common_records(table_marks(one, KEY), table_marks(two, KEY))
    # the standard error of the common share of all records is at most 0.009; 5 of them
    union = first + second - true * second
    assert abs(overlap - true) < 5 * 0.009 * union / second
    assert overlap > 0
    stranger = table(range(1000), seed=9)
    assert common_records(table_marks(one, KEY), table_marks(stranger, KEY)) == 0.0


def test_a_variable_is_known_again_among_others_and_by_another_type() -> None:
    frame = people(range(100))
    one = Microdata.from_frame(frame)
    other = frame[["x"]].rename(columns={"x": "wage"}).assign(w=np.arange(100.0))
    marks_of_one = table_marks(one, KEY)
    assert common_columns(marks_of_one, table_marks(Microdata.from_frame(other), KEY)) == 1
    twice = table_marks(Microdata.from_frame(frame[["x"]].assign(again=frame["x"])), KEY)
    assert common_columns(twice, marks_of_one) == 1
    whole = pd.DataFrame({"n": [1, 2, 3] * 5, "t": ["a", "b", "c"] * 5})
    typed = whole.astype({"n": float, "t": "category"})
    marks = [table_marks(Microdata.from_frame(each), KEY) for each in (whole, typed)]
    assert common_records(*marks) == 1.0
    assert common_columns(*marks) == 2
    missing = pd.DataFrame({"n": [1.0, np.nan, 3.0], "t": ["a", None, "c"]})
    assert table_marks(Microdata.from_frame(missing), KEY)["count"] == 3


def test_common_records_and_variables_are_counted_by_hand() -> None:
    def share(one: list[str], two: list[str], counts: tuple[int, int]) -> float:
        sides = zip((one, two), counts, strict=True)
        first, second = (marks(records=each, count=count) for each, count in sides)
        return common_records(first, second)

    assert share(["a", "b", "c"], ["b", "c", "d", "e"], (3, 4)) == pytest.approx(2 / 3)
    assert share(["a"], ["b"], (1, 1)) == 0.0
    assert share([], [], (0, 0)) == 0.0
    assert share(["a"], ["a"], (1, 1)) == 1.0
    large = [f"{i:05d}" for i in range(SKETCH)]
    beyond = ["00000", *(f"z{i}" for i in range(9))]
    # of a large table only the smallest marks are kept: what is greater is not compared
    assert share(large, beyond, (2 * SKETCH, 10)) == pytest.approx(
        (1 / SKETCH) * (2 * SKETCH + 10) / (1 + 1 / SKETCH) / 10
    )
    assert common_records(marks(names="n"), marks(names="m", count=1)) == 0.0
    assert common_columns(marks(columns=["a", "a", "b"]), marks(columns=["a", "b", "b"])) == 2


def test_marks_are_short_sorted_and_of_different_records() -> None:
    frame = pd.DataFrame({"y": ["b", "a", "b"], "x": [-0.0, 1.0, 0.0]})
    made = table_marks(Microdata.from_frame(frame), KEY)
    assert made["count"] == 2  # zero has no sign
    assert made["records"] == sorted(made["records"])
    assert made["columns"] == sorted(made["columns"])
    assert {len(mark) for mark in (*made["records"], *made["columns"], made["table"])} == {16}
    assert SKETCH == 2048
    turned = table_marks(Microdata.from_frame(frame[["x", "y"]]), KEY)
    assert {**turned, "table": ""} == {**made, "table": ""}
