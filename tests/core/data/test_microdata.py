"""The gate: what passes with which numbers, what is refused, and that nothing changes later."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError, SchemaError

WORD = "Zaphod"  # a cell that may not appear in a message
NAN = float("nan")
DAY = datetime.date
MOMENTS = ["2020-03-29 01:30", "2020-10-25 00:30"]


def gate(values: Any, **fields: Any) -> Microdata:
    frame = pd.DataFrame({"x": values})
    if not fields:
        return Microdata.from_frame(frame)
    return Microdata.from_frame(frame, Schema(variables=(Variable(name="x", **fields),)))


NUMBERS = {
    "int64": (np.array([2**60 + 1, 3]), Kind.COUNT, [2.0**60, 3]),
    "uint64": (np.array([2**64 - 1, 3], dtype="uint64"), Kind.COUNT, [2.0**64, 3]),
    "Int64": (pd.array([None, 3], dtype="Int64"), Kind.COUNT, [NAN, 3]),
    "arrow_int": (pd.array([None, 3], dtype="int64[pyarrow]"), Kind.COUNT, [NAN, 3]),
    "float16": (np.array([1.5, 3], dtype="f2"), Kind.CONTINUOUS, [1.5, 3]),
    "Float32": (pd.array([None, 3], dtype="Float32"), Kind.CONTINUOUS, [NAN, 3]),
    "arrow_float": (pd.array([None, 3], dtype="double[pyarrow]"), Kind.CONTINUOUS, [NAN, 3]),
    "seconds": (np.array(["0001-01-01", "NaT"], "M8[s]"), Kind.DATE, [-719162, NAN]),
    "nanoseconds": (np.array(["1970-01-03", "NaT"], "M8[ns]"), Kind.DATE, [2, NAN]),
    "zone_with_clock_change": (
        pd.to_datetime(MOMENTS).tz_localize("UTC").tz_convert("Europe/Berlin"),
        Kind.DATE,
        [18350.0625, 18560 + 0.5 / 24],
    ),
    "arrow_date": (
        pd.array([DAY(9999, 12, 31), None], dtype=pd.ArrowDtype(pa.date32())),
        Kind.DATE,
        [2932896, NAN],
    ),
    "ordered": (pd.Categorical(["b", "a"], ["b", "z", "a"], ordered=True), Kind.ORDERED, [0, 1]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_types_with_numbers(name: str) -> None:
    values, kind, expected = NUMBERS[name]
    microdata = gate(values)
    assert microdata.schema.variable("x").kind is kind
    np.testing.assert_array_equal(microdata.values("x"), expected)
    assert microdata.frame["x"].dtype == pd.Series(values).dtype
    assert not microdata.values("x").flags.writeable


CATEGORIES = {
    "bool": ([True, False], [1, 0], [False, True]),
    "boolean": (pd.array([None, True], dtype="boolean"), [-1, 0], [True]),
    "arrow_bool": (pd.array([None, True], dtype="bool[pyarrow]"), [-1, 0], [True]),
    "object": (pd.Series(["b", None], dtype=object), [0, -1], ["b"]),
    "text": (["b", "a"], [1, 0], ["a", "b"]),
    "python_string": (pd.array(["b", None], dtype="string[python]"), [0, -1], ["b"]),
    "category": (pd.Categorical(["b", "a"], ["b", "z", "a"]), [0, 1], ["b", "a"]),
    "whole_categories": (pd.Categorical([3, None]), [0, -1], [3]),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_types_with_categories(name: str) -> None:
    values, codes, levels = CATEGORIES[name]
    microdata = gate(values)
    assert microdata.schema.variable("x").kind is Kind.CATEGORICAL
    result, found_levels = microdata.codes("x")
    assert result.dtype == np.int32
    assert result.tolist() == codes
    assert found_levels == levels
    assert microdata.codes("x", [levels[-1]])[0].tolist() == [
        0 if code == len(levels) - 1 else -1 for code in codes
    ]
    with pytest.raises(SchemaError, match="categorical and has no numbers"):
        microdata.values("x")


REFUSED = {
    "complex": (np.array([1j, 2]), "type complex128"),
    "timedelta": (pd.to_timedelta([1, 2], unit="s"), "type timedelta64"),
    "period": (pd.period_range("2020", periods=2, freq="D"), "type period"),
    "sparse": (pd.arrays.SparseArray([0, 1.5]), "type Sparse"),
    "decimal": (pd.Series([decimal.Decimal(1)] * 2, dtype=object), "neither valid text"),
    "mixed": (pd.Series([1, WORD], dtype=object), r"neither valid text nor missing \(1, first in"),
    "lists": (pd.Series([[1], [2]], dtype=object), "neither valid text"),
    "half_pair": (pd.Series(["a", WORD + "\ud800"], dtype=object), "first in row 2"),
    "tuples": (pd.Categorical([(1, 2), (3, 4)]), "categories other than texts and numbers"),
    "infinite": ([1.0, -np.inf], r"infinite values \(1, first in row 2\)"),
    "beyond": ([1e300, 1e-300], r"beyond 1e\+150 \(1, first in row 1\)"),
    "all_missing": ([NAN, NAN], "no values"),
    "far_date": (np.array(["1970-01-01", "20000-01-01"], "M8[s]"), r"years 1 to 9999 \(1, first"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_are_refused(name: str) -> None:
    values, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        gate(values)
    assert "Column x" in str(caught.value)
    assert WORD not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "a"], r"name a occurs 2 times \(columns 1, 2\)"),
        (["a", " "], "Column 2 has no name"),
        (["a", 3], "name of column 2 is not a text"),
        (["a", "b\x1b[31m"], "column 2 has a control character"),
        (["a", "b\u2028"], "column 2 has a control character or a line break"),
        (pd.Index(["a", "b\ud800"], dtype=object), "column 2 has a control character"),
        (["a", "x" * 1001], "column 2 is longer than 1000"),
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), "header of several rows"),
    ],
)
def test_names_that_are_refused(names: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Microdata.from_frame(pd.DataFrame([[1, 2], [3, 4]], columns=names))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"x": [1]}), "one record"),
        (pd.DataFrame({"x": []}), "no records"),
        (pd.DataFrame(index=range(3)), "no columns"),
        ([[1, 2]], "must be a pandas DataFrame"),
    ],
)
def test_tables_that_are_refused(frame: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Microdata.from_frame(frame)


@pytest.mark.parametrize(
    ("values", "fields", "message"),
    [
        ([WORD, "b"], {"kind": "count"}, "Column x holds texts and cannot be count"),
        ([WORD, "b"], {"kind": "date"}, "Column x holds no dates"),
        (["b", WORD], {"kind": "ordered", "levels": ("b",)}, r"outside the levels .*\(1, first in"),
    ],
)
def test_a_schema_that_does_not_fit(values: Any, fields: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        gate(values, **fields)
    assert WORD not in str(caught.value)


def test_levels_of_a_schema_fit_numbers_and_texts() -> None:
    for values in ([3, 1, 2], [3.0, 1.0, 2.0], ["3", "1", "2"]):
        microdata = gate(values, kind="ordered", levels=("2", "3", "1"))
        assert microdata.values("x").tolist() == [1, 2, 0]


def test_the_index_and_attributes_are_left_out() -> None:
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=pd.MultiIndex.from_tuples([(1, 2), (1, 2)]))
    frame.attrs["source"] = "a path"
    microdata = Microdata.from_frame(frame)
    assert microdata.frame.index.equals(pd.RangeIndex(2))
    assert microdata.frame.attrs == {}


def test_a_direct_identifier_has_no_numbers_and_a_notice() -> None:
    microdata = gate([1, 2], kind="count", role="identifier")
    assert "direct identifier" in microdata.notices[0]
    assert microdata.numeric_names == ()
    with pytest.raises(SchemaError, match="direct identifier"):
        microdata.values("x")


def test_notices() -> None:
    frame = pd.DataFrame(
        {
            "same": [7] * 30,
            "gap": [None] + ["a", "b"] * 14 + ["a"],
            "name": [f"person {i}" for i in range(30)],
            "number": range(30),
            "Gap": [1.5] * 29 + [2.5],
        }
    )
    notices = " ".join(Microdata.from_frame(frame).notices)
    assert "same is constant" in notices
    assert "gap has 1 missing value." in notices
    assert "name looks like names or numbers of people: nearly every record" in notices
    assert "number looks like numbers of people, cases or objects" in notices
    assert "gap, Gap differ only in case" in notices
    assert "person" not in notices.replace("identifies people", "")
    ordered = gate(["low", "high"], kind="ordered")
    assert any("ordered by the alphabet" in notice for notice in ordered.notices)


def test_neither_the_callers_frame_nor_ours_can_change_the_table() -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = pd.DataFrame(values, columns=["x", "y"], copy=False)
    microdata = Microdata.from_frame(frame)
    before = microdata.fingerprint
    values[0, 0] = 9
    frame.loc[0, "y"] = 9
    taken = microdata.frame
    taken.loc[0, "x"] = 9
    assert microdata.frame["x"].tolist() == [1, 3]
    assert Microdata.from_frame(microdata.frame).fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        microdata.matrix(["x", "y"])[0, 0] = 9


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layout_does_not_matter(order: Any) -> None:
    values = np.arange(12.0).reshape(4, 3)
    plain = Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))
    other = np.array(values, order=order)
    other.flags.writeable = False
    strided = np.repeat(other, 2, axis=1)[:, ::2]
    for array in (other, strided):
        microdata = Microdata.from_frame(pd.DataFrame(array, columns=list("abc"), copy=False))
        assert microdata.fingerprint == plain.fingerprint


def test_what_is_shown_of_a_table_has_no_values() -> None:
    assert repr(gate([WORD, "b"])) == "Microdata(2 records x 1 variables)"
