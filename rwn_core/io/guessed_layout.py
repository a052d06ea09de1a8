"""Guess the layout of a file, for the user to confirm."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rwn_core.data.date_notation import USUAL_DATES
from rwn_core.data.file_layout import MOST_LINES, SEPARATORS, FileLayout
from rwn_core.errors import SchemaError
from rwn_core.io.text_types.column import NOTHING
from rwn_core.io.text_types.date_texts import fitting_notations
from rwn_core.io.text_types.patterns import Form, text_form, text_forms, without_blanks

_START, _END = 200_000, 20_000  # bytes that are looked at
_LINES = 200
_MOST_BELOW = 20
_FEWEST = 0.6  # of the lines that must have as many fields as most
_NUMBER = re.compile(r"[+-]?[\d.,]*\d")
_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
_FOR_MISSING = re.compile(
    r"(?i)n/?a|n\.a\.|#n/a|k\. ?a\.?|keine angabe|missing|unknown|not available|no answer|refused"
    r"|null|none|nan|\.|\?|-{1,3}|–|—|\*"
)
_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]{2,}")
_VALUES = set(Form) - NOTHING - {Form.INFINITE, Form.THOUSANDS, Form.UNIT, Form.WORD}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedLayout:
    """Hold what a file seems to be like."""

    layout: FileLayout
    sheets: tuple[str, ...] = ()  # of a workbook, that with the table first; none of another file
    # first and last rows of that sheet: the number of each, from 0, and its first cells as texts
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        layout = self.layout.changed()
        return {"layout": layout, "sheets": list(self.sheets), "rows": list(self.rows)}

    @classmethod
    def from_dict(cls, plain: Any) -> GuessedLayout:
        """Read the plain data."""
        return cls(
            layout=FileLayout.from_dict(plain["layout"]),
            sheets=tuple(str(sheet) for sheet in plain["sheets"]),
            rows=tuple((int(number), tuple(map(str, cells))) for number, cells in plain["rows"]),
        )


def guess_text_layout(content: bytes, usual: str) -> GuessedLayout | None:
    """Look at the beginning and the end of a text."""
    encoding = _encoding(content)
    start = content[:_START].decode(encoding, "replace")
    if "\0" in start:
        return None
    complete = len(content) <= _START
    lines = start.splitlines()[: None if complete else -1]
    if not any(line.strip() for line in lines):
        return None
    mark, width = _separator(lines[:_LINES], usual)
    above = next(
        (i for i, line in enumerate(lines[:_LINES]) if len(_fields(line, mark)) == width), 0
    )
    records = [_fields(line, mark) for line in lines[above:_LINES] if line.strip()]
    records = [record for record in records if len(record) == width]
    end = lines if complete else content[-_END:].decode(encoding, "replace").splitlines()[1:]
    try:
        layout = FileLayout(
            encoding=encoding,
            separator=None if mark == usual else mark,
            decimal=guessed_decimal(records, mark),
            # neither numbers nor dates stand among names
            header=not any(
                text_form(field) in _VALUES for record in records[:1] for field in record
            ),
            above=min(above, MOST_LINES),
            below=_below(end, mark, width),
            dates=guessed_dates(records),
            missing=guessed_missing(records),
        )
    except SchemaError:
        return None
    return GuessedLayout(layout=layout)


def _encoding(content: bytes) -> str:
    for sign, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(sign):
            return encoding
    if content.isascii():
        return "utf-8"
    for encoding in ("utf-8", "cp932", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "cp932" or _is_japanese(text):
            return encoding
    return "latin-1"


def _is_japanese(text: str) -> bool:
    """Return True if most letters beyond ASCII stand in runs of Japanese ones."""
    beyond = sum(not letter.isascii() for letter in text)
    return 2 * sum(map(len, _JAPANESE.findall(text))) >= beyond


def _fields(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line), delimiter=mark), [])
    except csv.Error:
        return []


def _separator(lines: Sequence[str], usual: str) -> tuple[str, int]:
    """The mark that divides most lines into equally many fields, and how many those are."""
    # One that leaves other marks within its fields, but for decimals, is the likelier a part of
    # them.
    best, found = (0.0, 0.0, 0), (usual, 1)
    for mark in (usual, *(mark for mark in SEPARATORS if mark != usual)):
        records = [_fields(line, mark) for line in lines if line.strip()]
        widths = Counter(map(len, records))
        several = {width: count for width, count in widths.items() if width > 1}
        if not several:
            continue
        width = max(several, key=lambda each: (several[each], each))
        share = several[width] / max(len(records), 1)
        torn = sum(any(_holds_a_mark(field) for field in record) for record in records)
        how_well = (round(share, 1), -round(torn / max(len(records), 1), 1), width)
        if share >= _FEWEST and how_well > best:
            best, found = how_well, (mark, width)
    return found


def _holds_a_mark(field: str) -> bool:
    """Return True if a field holds a mark that is no part of a number."""
    return _NUMBER.fullmatch(field.strip()) is None and any(mark in field for mark in SEPARATORS)


def guessed_decimal(records: Sequence[Sequence[str]], mark: str) -> str:
    """Return the decimal mark that most numbers have; the first record has the names."""
    if mark == ",":
        return "."
    fields = [field.strip() for record in records[1:] for field in record]
    commas = sum(_COMMA.fullmatch(field) is not None for field in fields)
    points = sum(_POINT.fullmatch(field) is not None for field in fields)
    return "," if commas > points else "."


def guessed_dates(records: Sequence[Sequence[str]]) -> str:
    """The notation of dates that every column of them has, where no other one fits."""
    found = set()
    for fields in zip(*records[1:], strict=True):
        texts = _known(fields)
        if len(texts) and (text_forms(texts) == Form.OTHER_DATE).all():
            found.add(tuple(fitting_notations(texts)))
    if len(found) != 1:
        return USUAL_DATES
    fits = found.pop()
    return fits[0] if len(fits) == 1 else USUAL_DATES


def guessed_missing(records: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return usual words for a missing value in columns that have numbers or dates besides."""
    found: set[str] = set()
    for fields in zip(*records[1:], strict=True):
        words = {each.strip() for each in fields if _FOR_MISSING.fullmatch(each.strip())}
        forms = set(text_forms(_known(fields)).tolist()) if words else set()
        if forms and forms <= _VALUES:
            found |= {word for word in words if text_form(word) is not Form.MISSING}
    return tuple(sorted(found))


def _known(fields: Sequence[str]) -> pa.Array:
    """Return the texts that stand for a value."""
    known = [each for each in fields if each.strip() and not _FOR_MISSING.fullmatch(each.strip())]
    return without_blanks(pa.array(known, pa.large_string()))


def _below(lines: Sequence[str], mark: str, width: int) -> int:
    """Count the last lines that are no records, without blank ones at the end."""
    remaining = list(lines)
    while remaining and not remaining[-1].strip():
        remaining.pop()
    if width < 2:
        return 0
    odd = 0
    while odd < len(remaining) and len(_fields(remaining[-1 - odd], mark)) != width:
        odd += 1
    return odd if odd <= _MOST_BELOW and odd < len(remaining) else 0
