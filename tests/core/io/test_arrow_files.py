"""Parquet and Feather files: types, decimals, texts, metadata, what is refused or said."""

import datetime
import decimal
import io
import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core import Kind, Microdata, Role, Schema, Variable
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.core.io.test_text_files import frames
from tests.read_here import said_of


def feather(*batches: pa.RecordBatch) -> bytes:
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return stream.getvalue()


def table(*arrays: pa.Array, schema: Schema | None = None) -> Microdata:
    """A Feather file of one column x, in these batches."""
    batches = [pa.record_batch({"x": array}) for array in arrays]
    return parse("t.feather", feather(*batches), schema)


def of_kind(**given: Any) -> Schema:
    return Schema(variables=(Variable(name="x", **given),))


def decimals(precision: int, scale: int, *texts: str | None) -> pa.Array:
    values = [None if text is None else decimal.Decimal(text) for text in texts]
    return pa.array(values, pa.decimal128(precision, scale))


FLOATING = "x has exact decimals in the file: they are read as floating numbers."
ROUNDED = "x has more digits than a floating number holds: the last ones are rounded."
KEPT = (
    "x has exact decimals of more digits than a floating number holds: they are kept as texts; "
    "give it the kind continuous in a schema to round them."
)
FEW, MANY = ("1.25", "2.5"), ("12345678901234567.25", "1.5")


def test_exact_decimals_become_what_keeps_their_digits():
    whole = table(decimals(18, 0, "123456789012345678", "-5"))
    assert str(whole.frame["x"].dtype) == "int64"
    few = table(decimals(19, 0, "1", None, "7"))
    np.testing.assert_array_equal(few.frame["x"], [1.0, np.nan, 7.0])
    assert few.notices[0] == FLOATING
    assert table(decimals(10, 2, *FEW)).notices == (FLOATING,)
    many = table(decimals(25, 2, *MANY))
    assert many.frame["x"].tolist() == ["12345678901234567.25", "1.50"]
    assert many.notices == (KEPT,)
    huge = table(decimals(38, 0, "9" * 38, "1"))
    assert huge.frame["x"].tolist() == ["9" * 38, "1"]


def test_a_schema_decides_what_exact_decimals_become():
    rounded = table(decimals(25, 2, *MANY), schema=of_kind(kind=Kind.CONTINUOUS))
    assert rounded.frame["x"].tolist() == [12345678901234567.25, 1.5]
    assert rounded.notices == (ROUNDED,)
    few = table(decimals(10, 2, *FEW), schema=of_kind(kind=Kind.CONTINUOUS))
    assert few.notices == (FLOATING,)
    texts = table(decimals(10, 2, *FEW), schema=of_kind(kind=Kind.CATEGORICAL))
    assert texts.frame["x"].tolist() == ["1.25", "2.50"]
    own = of_kind(kind=Kind.CONTINUOUS, role=Role.IDENTIFIER)
    other = Variable(name="y", kind=Kind.COUNT)
    batch = pa.record_batch({"x": decimals(10, 2, *FEW), "y": [1, 2]})
    data = parse("t.feather", feather(batch), Schema(variables=(*own.variables, other)))
    assert data.frame["x"].tolist() == ["1.25", "2.50"]


def test_categories_keep_their_order_and_lose_levels_that_nobody_has():
    def category(codes: list[int | None], levels: pa.Array, ordered: bool = False) -> Any:
        array = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), levels, ordered=ordered)
        return table(array).frame["x"]

    ranked = category([2, None, 0], pa.array(["lo", "secret", "hi"]), ordered=True)
    assert ranked.cat.categories.tolist() == ["lo", "hi"]
    assert ranked.cat.ordered
    assert ranked.tolist()[::2] == ["hi", "lo"]
    assert not category([0, 1, 0], pa.array(["b", "a"])).cat.ordered
    twice = category([0, 1, 2], pa.array(["a", "b", "a"]))
    assert (str(twice.dtype), twice.tolist()) == ("category", ["a", "b", "a"])
    gaps = category([0, 1, 2], pa.array(["a", None, "b"]))
    assert gaps.isna().tolist() == [False, True, False]
    assert category([1, 0, 1], decimals(5, 2, "1.25", "2.50")).tolist() == [2.5, 1.25, 2.5]


def test_values_that_no_distance_has_are_left_out_or_said():
    batch = pa.record_batch({"x": [1.0, -2e150, 1e151]})
    assert said_of("t.feather", feather(batch)) == (
        "Left out of every release: x (numbers beyond 1e+150 (2, first in row 2); replace or "
        "remove them)."
    )
    assert table(pa.array([1e150, -1e150])).n == 2
    said = (
        "x has whole numbers of 2^53 or more: a distance cannot tell them all apart; if they "
        "identify people, set its role to identifier."
    )
    for large in (2**53, -(2**53)):
        assert said in table(pa.array([1, large, 3])).notices
        assert said not in table(pa.array([1, large - np.sign(large), 3])).notices


def test_columns_of_other_types_are_left_out_with_the_reason():
    def refused(array: pa.Array) -> str:
        start, end = "Left out of every release: x (", ")."
        message = said_of("t.feather", feather(pa.record_batch({"x": array})))
        assert message.startswith(start)
        assert message.endswith(end)
        return message.removeprefix(start).removesuffix(end)

    assert refused(pa.array([[1], [2]])) == (
        "holds lists or records; write each part as a column of its own"
    )
    assert refused(pa.nulls(2)) == "has no values; remove it"
    odd = "holds bytes or objects; write numbers, texts or dates, or remove it"
    assert refused(pa.array([b"a", b"b"])) == odd
    assert refused(pa.array([b"a", b"b"]).dictionary_encode()) == odd


@pytest.mark.parametrize(
    ("make", "precision", "scale"),
    [(pa.decimal128, 10, 2), (pa.decimal128, 9, 0), (pa.decimal256, 18, 12)],
)
def test_exact_decimals_come_back_text_for_text(make, precision, scale):
    """Finding T2: each released text of a decimal column occurs in the file (read by Python)."""
    rng = random.Random(precision * 100 + scale)
    digits = min(precision, 15)
    texts = [
        format(decimal.Decimal(rng.randrange(10**digits)).scaleb(-scale), "f") for _ in range(400)
    ]
    texts += [format(decimal.Decimal(number).scaleb(-scale), "f") for number in (0, 1, 510, 610)]
    column = pa.array([decimal.Decimal(text) for text in texts], make(precision, scale))
    other = pa.array([str(number % 3) for number in range(len(texts))])
    batch = pa.record_batch({"x": column, "g": other})
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_batches([batch]), stream)
    for name, content in (("t.feather", feather(batch)), ("t.parquet", stream.getvalue())):
        data = parse(name, content)
        assert data.frame["x"].tolist() == [float(text) for text in texts]
        release = rwn.mask(data, rwn.RWN(k=5), seed=1)
        written = release.to_bytes("csv", keep=["x"]).decode().splitlines()[1:]
        assert {line.split(",")[0] for line in written} <= set(texts)
        again = parse(name, release.to_bytes(name.partition(".")[2], keep=["x"]))
        assert set(again.frame["x"]) <= {float(text) for text in texts}


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


def test_types_survive():
    for name, (array, dtype, kind) in TYPES.items():
        values, microdata = column(array)
        assert str(values.dtype) == dtype, name
        assert microdata.schema.variable("x").kind is kind, name
        assert values.isna().tolist() == array.is_null().to_pylist(), name
        if pa.types.is_integer(array.type):
            assert values.dropna().tolist() == array.drop_null().to_pylist()
            np.testing.assert_array_equal(np.isnan(microdata.values("x")), values.isna())


CELLS = {
    "float64": (st.floats(-1e150, 1e150), "float64"),
    "int64": (st.integers(-(2**63), 2**63 - 1), "Int64"),
    "bool": (st.booleans(), "boolean"),
    "str": (st.text(st.characters(exclude_categories=("Cs",)), max_size=8), "str"),
    "datetime64[us]": (st.datetimes().map(pd.Timestamp), "datetime64[us]"),
}


@settings(max_examples=40)
@given(frames(CELLS, r"[a-z,\" ]*[a-z]"))
def test_what_is_written_is_what_is_read(frame):
    original = Microdata.from_frame(frame)
    again = parse("t.parquet", table_bytes(frame, "parquet"))
    assert again.fingerprint == original.fingerprint
    pd.testing.assert_frame_equal(again.frame, original.frame)
