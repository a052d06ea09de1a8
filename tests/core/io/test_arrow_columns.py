"""Columns of Parquet and Feather files: decimals, texts, categories, what is refused or said."""

from __future__ import annotations

import decimal
import io
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.io import arrow_files
from rwn_core.io.parse import parse
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


def refusal(content: bytes, name: str = "t.feather") -> str:
    return said_of(name, content)


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


def test_exact_decimals_become_what_keeps_their_digits() -> None:
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


def test_a_schema_decides_what_exact_decimals_become() -> None:
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


def test_categories_keep_their_order_and_lose_levels_that_nobody_has() -> None:
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


def test_values_that_no_distance_has_are_left_out_or_said() -> None:
    batch = pa.record_batch({"x": [1.0, -2e150, 1e151]})
    assert refusal(feather(batch)) == (
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


def test_columns_of_other_types_are_left_out_with_the_reason() -> None:
    def refused(array: pa.Array) -> str:
        start, end = "Left out of every release: x (", ")."
        message = refusal(feather(pa.record_batch({"x": array})))
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


def test_long_texts_are_left_out_before_they_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        "Left out of every release: x (the texts have more than 3 bytes; shorten or remove the "
        "column)."
    )
    arrays = {
        "plain": lambda *texts: pa.array(texts),
        "view": lambda *texts: pa.array(texts, pa.string_view()),
    }
    monkeypatch.setattr(arrow_files, "MOST_LETTERS", 3)
    for make in arrays.values():
        assert table(make("ab", None, "c")).n == 3
        assert refusal(feather(pa.record_batch({"x": make("ab", None, "cd")}))) == said


def prefixed(*texts: str) -> bytes:
    """A Parquet file whose texts are written as what they add to the one before."""
    stream = io.BytesIO()
    columns = {"x": list(texts), "n": range(len(texts))}
    encoding = {"x": "DELTA_BYTE_ARRAY", "n": "PLAIN"}
    made = pa.table({name: pa.array(values) for name, values in columns.items()})
    pq.write_table(made, stream, use_dictionary=False, column_encoding=encoding)
    return stream.getvalue()


def test_texts_written_as_additions_are_spelled_out_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = prefixed("ab", "abc", "abcd")
    monkeypatch.setattr(arrow_files, "MOST_LETTERS", 9)
    monkeypatch.setattr(arrow_files, "_SPELLED", 1)  # one record at a time
    data = parse("t.parquet", content)
    assert data.frame["x"].tolist() == ["ab", "abc", "abcd"]
    assert data.frame["n"].tolist() == [0, 1, 2]
    monkeypatch.setattr(arrow_files, "MOST_LETTERS", 8)
    assert refusal(content, "t.parquet") == (
        "t.parquet, column x: the texts have more than 8 bytes; shorten or remove the column."
    )
    monkeypatch.setattr(arrow_files, "_LARGEST_PREFIXED", 10)
    assert refusal(content, "t.parquet") == (
        "t.parquet, column x: the texts are in an encoding that can hold any number of letters, "
        "and the file is large; save it with plain texts."
    )


@pytest.mark.parametrize(
    ("make", "precision", "scale"),
    [(pa.decimal128, 10, 2), (pa.decimal128, 9, 0), (pa.decimal256, 18, 12)],
)
def test_exact_decimals_come_back_text_for_text(make: Any, precision: int, scale: int) -> None:
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


def test_decimals_beyond_a_floating_number_are_texts_without_powers_of_ten() -> None:
    many = table(decimals(38, 30, "0.000000000000000000000000000001", "1.234567890123456789"))
    assert many.frame["x"].tolist()[0] == "0." + "0" * 29 + "1"
    assert many.notices == (KEPT,)
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), decimals(25, 2, *MANY))
    assert table(array).frame["x"].cat.categories.tolist() == ["12345678901234567.25", "1.50"]
