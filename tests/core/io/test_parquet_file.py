"""Reading Parquet: types survive, metadata does not."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes


def written(table: pa.Table, **options: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def column(array: pa.Array) -> tuple[pd.Series, Microdata]:
    microdata = parse("t.parquet", written(pa.table({"x": array})))
    return microdata.frame["x"], microdata


TYPES = {
    "int8": (pa.array([1, 2], pa.int8()), "int8", Kind.COUNT),
    "int64": (pa.array([1, 2**60 + 1], pa.int64()), "int64", Kind.COUNT),
    "int64_missing": (pa.array([None, 2**60 + 1], pa.int64()), "Int64", Kind.COUNT),
    "uint16_missing": (pa.array([None, 7], pa.uint16()), "UInt16", Kind.COUNT),
    "uint64": (pa.array([2**64 - 1, 0], pa.uint64()), "uint64", Kind.COUNT),
    "half": (pa.array(np.array([1, 2], "f2")), "float32", Kind.CONTINUOUS),
    "float": (pa.array([1.5, None], pa.float32()), "float32", Kind.CONTINUOUS),
    "double": (pa.array([1.5, None]), "float64", Kind.CONTINUOUS),
    "bool": (pa.array([True, False]), "bool", Kind.CATEGORICAL),
    "bool_missing": (pa.array([True, None]), "boolean", Kind.CATEGORICAL),
    "text": (pa.array(["a", None]), "str", Kind.CATEGORICAL),
    "large_text": (pa.array(["a", ""], pa.large_string()), "str", Kind.CATEGORICAL),
    "text_view": (pa.array(["a", None], pa.string_view()), "str", Kind.CATEGORICAL),
    "category": (pa.array(["a", None, "b"]).dictionary_encode(), "category", Kind.CATEGORICAL),
    "date": (pa.array([datetime.date(1, 1, 1), None]), "datetime64[s]", Kind.DATE),
    "moment": (pa.array([0, None], pa.timestamp("ns")), "datetime64[ns]", Kind.DATE),
    "zone": (
        pa.array([0, 1], pa.timestamp("us", "Asia/Tokyo")),
        "datetime64[us, Asia/Tokyo]",
        Kind.DATE,
    ),
}


def test_types_survive() -> None:
    for name, (array, dtype, kind) in TYPES.items():
        values, microdata = column(array)
        assert str(values.dtype) == dtype, name
        assert microdata.schema.variable("x").kind is kind, name
        assert values.isna().tolist() == array.is_null().to_pylist(), name
        if pa.types.is_integer(array.type):
            assert values.dropna().tolist() == array.drop_null().to_pylist()
            np.testing.assert_array_equal(np.isnan(microdata.values("x")), values.isna())


def test_a_stored_index_is_an_ordinary_column_and_attributes_are_left_out() -> None:
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=pd.Index([7, 8], name="number"))
    frame.attrs["source"] = "/home/jane/patients.csv"
    stream = io.BytesIO()
    frame.to_parquet(stream)
    microdata = parse("t.parquet", stream.getvalue())
    assert microdata.names == ("x", "number")
    assert microdata.frame.attrs == {}
    assert microdata.frame.index.equals(pd.RangeIndex(2))


def test_a_schema_decides_the_kind() -> None:
    schema = Schema(variables=(Variable(name="x", kind=Kind.ORDERED, levels=("9", "1", "5")),))
    content = written(pa.table({"x": [1, 9, 5]}))
    microdata = parse("t.parquet", content, schema)
    assert microdata.values("x").tolist() == [1, 0, 2]
    with pytest.raises(InputError, match=r"^t\.parquet: .*a variable y that the table lacks"):
        parse("t.parquet", content, Schema(variables=(Variable(name="y", kind="count"),)))


CELLS = {
    "float64": st.floats(-1e150, 1e150),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "str": st.text(st.characters(exclude_categories=("Cs",)), max_size=8),
    "datetime64[us]": st.datetimes().map(pd.Timestamp),
}
MISSING = {"int64": "Int64", "bool": "boolean"}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Random tables with missing values."""
    n = draw(st.integers(2, 12))
    series = {}
    for name in draw(
        st.lists(st.from_regex(r"[a-z,\" ]*[a-z]", fullmatch=True), min_size=1, unique=True)
    ):
        dtype = draw(st.sampled_from(list(CELLS)))
        cells = draw(
            st.lists(st.one_of(st.none(), CELLS[dtype]), min_size=n, max_size=n).filter(
                lambda values: any(value is not None for value in values)
            )
        )
        if None in cells:
            dtype = MISSING.get(dtype, dtype)
        series[name] = pd.Series(cells, dtype=dtype)
    return pd.DataFrame(series)


@settings(max_examples=40)
@given(frames())
def test_what_is_written_is_what_is_read(frame: pd.DataFrame) -> None:
    original = Microdata.from_frame(frame)
    again = parse("t.parquet", table_bytes(frame, "parquet"))
    assert again.fingerprint == original.fingerprint
    pd.testing.assert_frame_equal(again.frame, original.frame)
