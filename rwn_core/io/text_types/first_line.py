"""A first line that is a record would become the names, and be released as they are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from rwn_core.data.file_layout import SEPARATORS
from rwn_core.errors import InputError
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.patterns import Form, text_form

_LOOKED_AT = 10_000  # different texts of a column; a pattern shows in a few


_MARKS = SEPARATORS | {"^": "carets", "~": "tildes"}
_STRONG = ";\t"
_LINES_SEEN = 200  # lines; what separates fields shows in a few
_COLUMNS = re.compile(r"(?<=\S) {2,}(?=\S)")  # a gap between columns of a fixed width


def refuse_values_as_names(file: str, columns: Sequence[TextColumn]) -> None:
    """Refuse a header if names look like values of their own columns."""
    values = {Form.NUMBER, Form.EXPONENT, Form.CODE, Form.DATE, Form.OTHER_DATE, Form.CLOCK}
    if any(c.has and c.has <= values and text_form(c.name) is Form.WORD for c in columns):
        return  # a word is above numbers or dates
    odd = [position for position, column in enumerate(columns, 1) if _is_value(column)]
    if odd:
        places = ", ".join(map(str, odd[:3])) + (", ..." if len(odd) > 3 else "")
        raise InputError(
            f"{file}, line 1, column {places}: the name looks like a value of the column, as if "
            "the header line were left out; add a line with the names, or give a schema with them."
        )


def header_notices(columns: Sequence[TextColumn]) -> list[str]:
    """Say that the first line was taken for names where nothing shows that it is no record."""
    words = {Form.WORD, Form.MISSING}
    if all(column.has and column.has <= words for column in columns):
        return [
            "All columns hold texts, and the first line is read as their names: if it is a record, "
            "add a line with the names."
        ]
    return []


def _is_value(column: TextColumn) -> bool:
    name = column.name.strip()
    texts = column.different.slice(0, _LOOKED_AT).to_pylist()
    if Form.WORD in column.has and name in texts:
        return True
    pattern = _pattern(name)
    known = [text for text in texts if text]
    return "9" in pattern and len(known) > 1 and all(_pattern(text) == pattern for text in known)


def _pattern(text: str) -> str:
    """Return the pattern of a text: letters as a, digits as 9."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))


def refuse_other_separator(file: str, text: bytes, separator: str) -> None:
    """Refuse a text that another mark divides into more fields than the expected one."""
    expected = _fields(text, separator)
    for mark, what in _MARKS.items():
        if mark == separator:
            continue
        found = _fields(text, mark, strict=True)  # a quote of another field may begin one here
        # as many semicolons as commas in every line, the first included, are no accident
        least = max(expected, 2) if mark in _STRONG else expected + 1
        if found >= least:
            raise InputError(
                f"{file}, line 1: the fields seem to be separated by {what}; "
                f"say which, or save the table with {_MARKS[separator]} between them and points in "
                "decimals."
            )
    if expected <= 1 and _is_spaced(text):
        raise InputError(
            f"{file}, line 1: the fields seem to be separated by blanks or to have a fixed width; "
            f"save the table with {_MARKS[separator]} between them, or put quotes around texts "
            "that hold blanks."
        )


def refuse_named_separator(file: str, names: Sequence[str]) -> None:
    """Refuse a first line such as sep=; which a spreadsheet writes and takes for no record."""
    first = names[0].strip().lower() if names else ""
    if first.startswith("sep=") and len(first) <= len("sep=;") and not any(names[1:]):
        raise InputError(
            f"{file}, line 1: the line names the separator and no column; remove it, or say the "
            "separator and that one line stands above the table."
        )


def _fields(text: bytes, mark: str, *, strict: bool = False) -> int:
    """Count the fields of every line with this separator; 1 if the lines disagree."""
    try:
        widths = {
            len(record) for record in islice(_records(text, mark, strict), _LINES_SEEN) if record
        }
    except csv.Error:
        return 1
    return widths.pop() if len(widths) == 1 else 1


def _records(text: bytes, mark: str, strict: bool) -> Iterator[list[str]]:
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=mark, strict=strict)


def _is_spaced(text: bytes) -> bool:
    """Return True if blanks, or runs of them, divide every line into equally many fields."""
    start = text[: 100 * _LINES_SEEN].decode("utf-8", "replace")
    lines = [line for line in start.splitlines()[:_LINES_SEEN] if line.strip()]
    if len(lines) < 2 or any('"' in line for line in lines):
        return False
    widths = {len(line.split()) for line in lines}
    if len(widths) == 1 and widths != {1}:
        return True
    return all(_COLUMNS.search(line.strip()) for line in lines)
