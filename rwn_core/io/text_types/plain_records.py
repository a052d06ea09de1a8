"""Splits records with Arrow where it and the csv module cannot differ; csv takes all others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from rwn_core.io.limits import LONGEST_FIELD

QUOTE, BLOCK = ord('"'), 1 << 20  # bytes that Arrow splits at a time


def plain_columns(records: bytes, width: int, separator: str) -> list[pa.ChunkedArray] | None:
    """Return the fields of records without their header line, column by column."""
    # None where a quote or a line end may mean something else to the csv module, or a record is of
    # another width: then that module splits the records, or says what is wrong with them.
    if (
        width < 2
        or not records
        or not _has_plain_lines(records)
        or not _has_plain_quotes(records, separator)
    ):
        return None
    names = [str(column) for column in range(width)]
    try:
        table = csv.read_csv(
            pa.BufferReader(records),
            csv.ReadOptions(column_names=names, block_size=BLOCK),
            csv.ParseOptions(
                delimiter=separator, newlines_in_values=b'"' in records, ignore_empty_lines=False
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return list(table.columns)


def _has_plain_lines(records: bytes) -> bool:
    """True if no line is empty, and a carriage return stands at the end of a line alone."""
    if records.startswith((b"\n", b"\r")) or b"\n\n" in records:
        return False
    if b"\r" not in records:
        return True
    return records.count(b"\r") == records.count(b"\r\n") and b"\n\r" not in records


def _has_plain_quotes(records: bytes, separator: str) -> bool:
    """True if quotes open and close whole fields by turns."""
    if b'"' not in records:
        return True
    text = np.frombuffer(records, np.uint8)
    place = np.flatnonzero(text == QUOTE)
    apart = np.zeros(256, bool)
    apart[[ord(separator), ord("\n"), ord("\r")]] = True
    opens = _at(text, place - 1, apart)
    closes = _at(text, place + 1, apart)
    return bool(
        len(place) % 2 == 0
        and opens[::2].all()
        and closes[1::2].all()
        and not closes[::2].any()
        and not opens[1::2].any()
        and (np.diff(place)[::2] <= LONGEST_FIELD).all()
    )


def _at(
    text: NDArray[np.uint8], place: NDArray[np.int64], apart: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether a field begins or ends at each place; it does outside of the text."""
    inside = (place >= 0) & (place < len(text))
    found: NDArray[np.bool_] = apart[text[np.clip(place, 0, len(text) - 1)]] | ~inside
    return found
