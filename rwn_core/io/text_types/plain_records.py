"""Splits records with Arrow where it and the csv module cannot differ; csv takes all others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from rwn_core.io.limits import LONGEST_FIELD

# bytes that Arrow splits at a time
QUOTE = ord('"')
BLOCK = 1 << 20


def plain_columns(
    text: bytes, width: int, separator: str, begin: int = 0
) -> list[pa.DictionaryArray] | None:
    """Return the fields of the records that begin there in a text, column by column."""
    # None where a quote or a line end may mean something else to the csv module, or a record is of
    # another width: then that module splits the records, or says what is wrong with them.
    if (
        width < 2
        or begin >= len(text)
        or not _has_plain_lines(text, begin)
        or not _has_plain_quotes(text, begin, separator)
    ):
        return None
    names = [str(column) for column in range(width)]
    quoted = text.find(b'"', begin) >= 0
    different = pa.dictionary(pa.int32(), pa.large_string())  # texts that come again are held once
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(text).slice(begin)),
            csv.ReadOptions(column_names=names, block_size=BLOCK),
            csv.ParseOptions(
                delimiter=separator, newlines_in_values=quoted, ignore_empty_lines=False
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, different),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = [column.combine_chunks() for column in table.unify_dictionaries().columns]
    longest = [pc.max(pc.binary_length(each.dictionary)).as_py() or 0 for each in columns]
    return columns if max(longest) <= LONGEST_FIELD else None


def _has_plain_lines(text: bytes, begin: int) -> bool:
    """True if no line is empty, and a carriage return stands at the end of a line alone."""
    if text.startswith((b"\n", b"\r"), begin) or text.find(b"\n\n", begin) >= 0:
        return False
    if text.find(b"\r", begin) < 0:
        return True
    ends = text.count(b"\r", begin) == text.count(b"\r\n", begin)
    return ends and text.find(b"\n\r", begin) < 0


def _has_plain_quotes(content: bytes, begin: int, separator: str) -> bool:
    """True if quotes open and close whole fields by turns."""
    if content.find(b'"', begin) < 0:
        return True
    text = np.frombuffer(content, np.uint8)[begin:]
    place = np.flatnonzero(text == QUOTE)
    apart = np.zeros(256, bool)
    apart[[ord(separator), ord("\n"), ord("\r")]] = True
    # a field begins or ends at a mark, and outside of the text
    opens, closes = (
        apart[text[np.clip(at, 0, len(text) - 1)]] | (at < 0) | (at >= len(text))
        for at in (place - 1, place + 1)
    )
    return bool(
        len(place) % 2 == 0
        and opens[::2].all()
        and closes[1::2].all()
        and not closes[::2].any()
        and not opens[1::2].any()
    )
