"""Refuse a text that uses another separator than its format."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from rwn_core.errors import InputError

_MARKS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    ":": "colons",
    "^": "carets",
    "~": "tildes",
}
_STRONG = ";\t"
_LOOKED_AT = 200  # lines; what separates fields shows in a few
_COLUMNS = re.compile(r"(?<=\S) {2,}(?=\S)")  # a gap between columns of a fixed width


def refuse_other_separator(file: str, text: bytes, separator: str) -> None:
    """Refuse a text that another mark divides into more fields than the expected one."""
    expected = _fields(text, separator)
    for mark, what in _MARKS.items():
        if mark == separator:
            continue
        found = _fields(text, mark)
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


def _fields(text: bytes, mark: str) -> int:
    """Count the fields of every line with this separator; 1 if the lines disagree."""
    try:
        widths = {len(record) for record in islice(_records(text, mark), _LOOKED_AT) if record}
    except csv.Error:
        return 1
    return widths.pop() if len(widths) == 1 else 1


def _records(text: bytes, mark: str) -> Iterator[list[str]]:
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=mark)


def _is_spaced(text: bytes) -> bool:
    """Return True if blanks, or runs of them, divide every line into equally many fields."""
    start = text[: 100 * _LOOKED_AT].decode("utf-8", "replace")
    lines = [line for line in start.splitlines()[:_LOOKED_AT] if line.strip()]
    if len(lines) < 2 or any('"' in line for line in lines):
        return False
    widths = {len(line.split()) for line in lines}
    if len(widths) == 1 and widths != {1}:
        return True
    return all(_COLUMNS.search(line.strip()) for line in lines)
