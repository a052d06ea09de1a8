"""Hostile Parquet files: each refused with one sentence that has place and remedy."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rwn_core.errors import InputError
from rwn_core.io import arrow_files, limits
from rwn_core.io.parse import parse
from tests.read_here import said_of

WORD = "Zaphod"  # a cell that may not appear in a message


def written(table: pa.Table, **options: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def with_column(values: object, type: pa.DataType | None = None) -> bytes:
    array = values if isinstance(values, pa.Array) else pa.array(values, type)
    return written(pa.table({"a": pa.array([WORD] * len(array), pa.string()), "bad": array}))


GOOD = written(pa.table({"a": [WORD, "y", "z"], "x": [1.5, 2.5, 3.5]}))
PAIR = [pa.array([1, 2]), pa.array([3, 4])]

CASES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "truncated": (lambda: GOOD[:-20], "damaged", "save the file again"),
    "footer_lies": (
        lambda: GOOD[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "damaged",
        "save the file again",
    ),
    "duplicate": (
        lambda: written(pa.Table.from_arrays(PAIR, names=["a", "a"])),
        "column name a .*columns 1, 2",
        "rename",
    ),
    "text_not_utf8": (
        lambda: with_column(
            pa.Array.from_buffers(
                pa.string(),
                2,
                [None, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"\xff\xfe")],
            )
        ),
        "damaged",
        "save the file again",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_and_remedy(name: str) -> None:
    make, place, remedy = CASES[name]
    with pytest.raises(InputError) as caught:
        parse("people.parquet", make())
    message = str(caught.value)
    assert re.fullmatch(r"people\.parquet[,: ].*\.", message), message
    assert not re.search(r"[.!?] (?!csv)", message), f"not one sentence: {message}"
    assert re.search(place, message), message
    assert remedy in message
    assert ";" in message
    assert WORD not in message


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: with_column([{"x": 1}, {"x": 2}]), "bad (holds lists or records;"),
        (lambda: with_column([None, None], pa.float64()), "bad (no values)"),
        (lambda: written(pa.table({f"c{i}": [1, 2] for i in range(2001)})), "at most 2,000"),
    ],
)
def test_columns_that_cannot_be_used_are_left_out_and_the_others_read(
    make: Callable[[], bytes], said: str
) -> None:
    data = parse("people.parquet", make())
    assert data.schema.released
    assert said in " ".join(data.notices)


def test_a_bomb_is_refused_by_its_declared_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CELLS", 999_999)
    bomb = written(pa.table({"a": np.zeros(1_000_000)}), compression="zstd")
    assert len(bomb) < 10_000
    with pytest.raises(InputError, match="1,000,000 records of 1 column"):
        parse("people.parquet", bomb)


def test_a_bomb_of_repeated_texts_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_files, "MOST_LETTERS", 10_000_000)
    bomb = written(pa.table({"a": pa.array(["z" * 10_000] * 2_000), "b": np.arange(2_000)}))
    assert len(bomb) < 100_000
    assert "a (the texts have more than 10,000,000 bytes" in said_of("people.parquet", bomb)


def test_a_flipped_bit_is_found_by_the_checksum() -> None:
    values = np.random.default_rng(1).normal(size=100)
    good = written(
        pa.table({"a": values}), write_page_checksum=True, compression="none", use_dictionary=False
    )
    assert parse("people.parquet", good).n == 100
    bad = bytearray(good)
    bad[good.index(values[50].tobytes())] ^= 1
    with pytest.raises(InputError, match="damaged"):
        parse("people.parquet", bytes(bad))


def test_dates_far_from_the_calendar_are_left_out() -> None:
    days = pa.array([0, 2_000_000_000], pa.int32()).cast(pa.date32())
    said = said_of("people.parquet", with_column(days))
    assert "bad (dates outside the years 1 to 9999" in said


def test_two_records_that_unpack_to_gigabytes_are_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LARGEST_UNPACKED", 5_000_000)
    table = pa.table({"a": ["z" * 6_000_000, "y"], "b": [1, 2]})
    for options in ({}, {"use_dictionary": False}, {"column_encoding": {"a": "DELTA_BYTE_ARRAY"}}):
        options = {"use_dictionary": False, **options} if options else {}
        bomb = written(table, compression="zstd", **options)
        assert len(bomb) < 10_000
        with pytest.raises(InputError, match="unpacks to more than 5 MB"):
            parse("people.parquet", bomb)
