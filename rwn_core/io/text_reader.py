"""Text tables in (CSV): a line with too many or too few fields is refused here."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.data.file_layout import SEPARATORS, USUAL_DATES, FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.guessed_layout import joined_names, wide_encoding, without_breaks
from rwn_core.io.header_row import NO_NAMES, values_among_names
from rwn_core.io.limits import LONGEST_FIELD, chosen_columns, in_file
from rwn_core.io.row_names import named
from rwn_core.io.text_types.column import Form, TextColumn, are_days, text_form
from rwn_core.io.text_types.convert import table_of_columns, typed_or_texts, written_decimals
from rwn_core.io.text_types.lay_out import (
    invented_notice,
    names_of_schema,
    table_lines,
    with_points,
    without_groups,
    without_words,
)
from rwn_core.io.text_types.of_r import lacks_a_name, quotes_all_names, without_na
from rwn_core.io.text_types.plain_records import plain_columns
from rwn_core.parallel.threads import current_work, thread_count

_SPLIT = 0.6  # of the reading, until the fields are found
_BLOCK = 1_000  # records held as Python objects at a time; few enough for the cache
_ENDS = r"\r\n|\n|\r"
_LINE_END = re.compile(_ENDS.encode())
_LAST_LINE = re.compile(rb"[^\r\n](?:\r\n|\n|\r)?\Z")
_RECORDS_SEEN = 1_000  # below a name that is a number
_LOOKED_AT = 10_000  # different texts of a column; a pattern shows in a few


_MARKS = SEPARATORS | {"^": "carets", "~": "tildes"}
_STRONG = ";\t"
_LINES_SEEN = 200  # lines; what separates fields shows in a few
_COLUMNS = re.compile(r"(?<=\S) {2,}(?=\S)")  # a gap between columns of a fixed width


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's text; `first` is the number of its first line, `chosen`: its separator was named."""

    file: str
    content: bytes
    separator: str
    first: int = 1
    header: int = True  # lines
    chosen: bool = False

    def records(self) -> Iterator[list[str]]:
        # the ends of lines are left to the csv module, which counts them
        lines = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8", newline="")
        return csv.reader(lines, strict=True, delimiter=self.separator)

    def after_header(self) -> Iterator[list[str]]:
        records = self.records()
        deque(islice(records, self.header), maxlen=0)
        return records

    def line(self, records: Iterator[list[str]]) -> int:
        """The number of the line that follows what was read, in the file."""
        return self.first + int(records.line_num)  # type: ignore[attr-defined]  # csv.reader


def read_text_table(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None, separator: str
) -> Microdata:
    """Read a CSV or TSV file."""
    # The csv module splits the records, because it is exact about quotes and counts physical lines;
    # types are decided column by column on Arrow arrays of texts.
    layout = layout or FileLayout()
    text, of_r = _table_text(file, content, layout, separator)
    names = _header(text)
    if schema is not None and not layout.header:
        with in_file(file):
            names = names_of_schema(names, schema)
    names = tuple(named(names, schema))
    chosen, wide = chosen_columns(file, names, schema, layout, f", line {text.first:,}")
    columns = _columns(text, names)
    _refuse_numbers_as_names(text, names, columns, schema)
    names = tuple(names[place] for place in chosen)
    as_texts: dict[str, str] = {}  # why columns are not what they seem, or are said to be
    columns = [
        _plain_numbers(name, without_words(columns[place], layout.missing), layout, as_texts)
        for name, place in zip(names, chosen, strict=True)
    ]
    cells = [
        TextColumn(name, texts, lambda rows: _physical_lines(text, columns, rows))
        for name, texts in zip(names, columns, strict=True)
    ]
    with ThreadPoolExecutor(thread_count()) as pool:
        list(pool.map(attrgetter("forms"), cells))  # most of the time of the types
    notices = of_r if layout.header or schema is not None else [invented_notice(names)]
    # a layout that states the places of fields says which line has the names
    if schema is None and layout.changed().keys() <= {"dates", "missing", "only", "drop"}:
        refuse_values_as_names(file, cells)
        notices += _all_texts(cells)
    series, written, said = _typed_columns(cells, schema, layout, as_texts)
    data = table_of_columns(file, series, schema, [*wide, *notices, *said], as_texts)
    left = written.keys() & data.schema.by_name.keys()  # a counter is not there any more
    return data.with_schema(data.schema.replace_variables({name: written[name] for name in left}))


def _all_texts(cells: Sequence[TextColumn]) -> list[str]:
    """Say that all columns hold texts, so that the line of names may be a record."""
    if not all(column.has and column.has <= {Form.WORD, Form.MISSING} for column in cells):
        return []
    return [
        "All columns hold texts, and the first line is read as their names: if it is a record, add "
        "a line with the names."
    ]


def _typed_columns(
    cells: Sequence[TextColumn],
    schema: Schema | None,
    layout: FileLayout,
    as_texts: dict[str, str],
) -> tuple[dict[str, pd.Series[Any]], dict[str, dict[str, Any]], list[str]]:
    """Return each column with its type, how its dates and decimals are written, and notices.

    Why a column stays a text is added to `as_texts`.
    """
    series: dict[str, pd.Series[Any]] = {}
    written: dict[str, dict[str, Any]] = {}
    notices: list[str] = []
    usual = None if layout.dates == USUAL_DATES else layout.dates
    for done, column in enumerate(cells):
        name = column.name
        current_work().report(_SPLIT + (1 - _SPLIT) * done / len(cells))
        variable = None if schema is None else schema.by_name.get(name)
        notation = (variable and variable.notation) or usual
        series[name], noticed, notation = typed_or_texts(column, variable, notation, as_texts)
        notices += noticed
        if column.has == {Form.OTHER_DATE} and are_days(series[name]):
            written[name] = {"notation": notation}
        elif variable is None or variable.decimals is None:
            decimals = written_decimals(column, series[name])
            if decimals is not None:
                written[name] = {"decimals": decimals}
    return series, written, notices


def _table_text(
    file: str, content: bytes, layout: FileLayout, usual: str
) -> tuple[_Text, list[str]]:
    """Return the lines of the table, and what is to be said of those that R wrote."""
    mark = layout.separator or usual
    lines = table_lines(file, _checked_text(file, content, layout.encoding), layout)
    said: list[str] = []
    if layout.header and quotes_all_names(lines, mark):
        lines, said = _as_r_writes(lines, mark)
    first = 1 + layout.above
    chosen = layout.separator is not None
    return _Text(file, lines, mark, first=first, header=layout.header, chosen=chosen), said


def _plain_numbers(
    name: str, column: pa.DictionaryArray, layout: FileLayout, as_texts: dict[str, str]
) -> pa.DictionaryArray:
    """Write the numbers of a column with a point and no groups, as the layout says they are."""
    if layout.grouped:
        column = without_groups(column, layout.decimal)
    return with_points(name, column, as_texts) if layout.decimal == "," else column


def _as_r_writes(lines: bytes, separator: str) -> tuple[bytes, list[str]]:
    """Return lines of R with a name for its row names, and without NA; and say so."""
    if lacks_a_name(lines, separator):
        lines = b'""' + separator.encode() + lines
    lines, count = without_na(lines, separator)
    times = "1 field is" if count == 1 else f"{count:,} fields are"
    said = f"{times} NA without quotes, as R writes a missing value: they count as missing."
    return lines, [said] if count else []


def _checked_text(file: str, content: bytes, encoding: str) -> bytes:
    """The content in UTF-8, without a byte order mark and empty last lines, if it is text."""
    if encoding != "utf-8":
        try:
            content = content.decode(encoding).encode("utf-8")
        except (UnicodeError, LookupError):
            raise InputError(
                f"{file} is not text in {encoding}; choose another encoding."
            ) from None
    # a large text is copied only where something of it is left out
    if (wide := wide_encoding(content)) is not None:
        raise InputError(
            f"{file} is {wide.upper()} text; say its encoding, or save it as CSV in UTF-8."
        )
    wrong = content.find(b"\0")
    fault = "is a NUL byte; save the table as CSV in UTF-8 again"
    try:
        if wrong < 0 and not content.isascii():
            content.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = error.start
        fault = (
            "are bytes that are not UTF-8 text, perhaps Latin-1 or Windows-1252; say its encoding, "
            "or save the table as CSV in UTF-8"
        )
    if wrong >= 0:
        line = len(_LINE_END.findall(content[:wrong])) + 1
        raise InputError(f"{file}, line {line:,}: there {fault}.")
    text = content.removeprefix(codecs.BOM_UTF8)
    if _LAST_LINE.search(text[-3:]) is None:
        text = text.rstrip(b"\r\n")
    if not text or text.isspace():
        raise InputError(f"{file} holds only blanks; choose a file that holds a table.")
    return text


def _header(text: _Text) -> tuple[str, ...]:
    file = text.file
    try:
        names, *more = islice(text.records(), max(text.header, 1))
    except csv.Error as error:
        raise InputError(f"{file}, line {text.first:,}: {broken(str(error))}") from None
    if not names:
        raise InputError(
            f"{file}, line {text.first:,}: the header line is empty; begin with the names."
        )
    # Refuse a first line such as sep=; which a spreadsheet writes and takes for no record.
    first = names[0].strip().lower()
    if first.startswith("sep=") and len(first) <= len("sep=;") and not any(names[1:]):
        raise InputError(
            f"{file}, line 1: the line names the separator and no column; remove it, or say the "
            "separator and that one line stands above the table."
        )
    if not text.chosen:
        refuse_other_separator(file, text.content, text.separator)
    names = joined_names([names, *more]) if more else [*map(without_breaks, names)]
    if not text.header:
        return tuple(f"V{number}" for number in range(1, len(names) + 1))
    return tuple(names)


def _refuse_numbers_as_names(
    text: _Text,
    names: Sequence[str],
    columns: Sequence[pa.DictionaryArray],
    schema: Schema | None,
) -> None:
    """Refuse a header line with numbers or dates that may be values of a record."""
    if not text.header:
        return
    stated = () if schema is None else schema.names
    doubted = {
        place: name
        for place, name in enumerate(names)
        if name not in stated and text_form(name) in NO_NAMES
    }
    first = {place: columns[place].slice(0, _RECORDS_SEEN).to_pylist() for place in doubted}
    values = values_among_names(doubted, first)
    if values:
        odd = NO_NAMES[text_form(names[values[0]])]
        # the name stays out of the message: without a header line it is a cell's value
        raise InputError(
            f"{text.file}, line {text.first:,}, column {values[0] + 1}: the name is a {odd}, as "
            "if the header line were left out; add a line with the names, or put a letter before "
            f"the {odd}."
        )


def _columns(text: _Text, names: Sequence[str]) -> list[pa.DictionaryArray]:
    # Where the records begin; the end where the header has several lines.
    lines = text.after_header().line_num  # type: ignore[attr-defined]
    starts = [0, *(end.end() for end in islice(_LINE_END.finditer(text.content), lines))]
    plain = plain_columns(
        text.content,
        len(names),
        text.separator,
        starts[lines] if lines == text.header < len(starts) else len(text.content),
    )
    if plain is not None:
        return plain
    # records that only the csv module splits as it should
    records = text.after_header()
    ends = max(text.content.count(b"\n"), text.content.count(b"\r"), 1)
    chunks: list[list[pa.Array]] = [[] for _ in names]
    while block := _block(text, records, len(names)):
        for parts, values in zip(chunks, zip(*block, strict=True), strict=True):
            parts.append(pa.array(values, pa.large_string()))
        current_work().report(_SPLIT * min(1.0, text.line(records) / ends))
    if not chunks[0]:
        raise InputError(
            f"{text.file}: no record follows the header line; masking needs at least two records."
        )
    return [pc.dictionary_encode(pa.concat_arrays(parts)) for parts in chunks]


def _block(text: _Text, records: Iterator[list[str]], width: int) -> list[list[str]]:
    """Return the next records, each as wide as the header; empty after the last one."""
    line = text.line(records)
    block = list[list[str]]()
    fault = ""
    try:
        for record in islice(records, _BLOCK):
            block.append(record)  # what came before a fault is needed
    except csv.Error as error:
        fault = broken(str(error))
    if fault or any(len(record) != width for record in block):
        for record in block:
            if len(record) != width:
                raise InputError(f"{text.file}, line {line:,}: {ragged(record, width)}")
            line += 1 + sum(len(re.findall(_ENDS, field)) for field in record)
        raise InputError(f"{text.file}, line {line:,}: {fault}")
    return block


def _physical_lines(
    text: _Text, columns: Sequence[pa.DictionaryArray], rows: Sequence[int]
) -> list[int]:
    """Return the lines on which these records begin; record 0 follows the header."""
    begin = text.line(text.after_header())
    heights = np.ones(len(columns[0]), np.int64)
    for each in columns:
        heights += pc.count_substring_regex(each.dictionary, _ENDS).take(each.indices).to_numpy()
    return [begin + int(heights[:row].sum()) for row in rows]


def ragged(record: Sequence[str], width: int) -> str:
    """Refuse a line with a wrong number of fields (cells), in words."""
    if not record:
        return (
            "the line is empty; remove it and any title above the header line, or write two "
            "quotes for a missing value."
        )
    fields = "is 1 field" if len(record) == 1 else f"are {len(record):,} fields"
    remedy = "give every record one field for each column"
    if len(record) == width + 1 and record[-1] == "":
        remedy = "remove the comma at the end of the lines"
    elif width == 1:
        remedy = "remove any title above the header line"
    return f"there {fields}, and the header has {width:,}; {remedy}."


def broken(error: str) -> str:
    """Describe an error of the csv module."""
    if "unexpected end" in error:
        return "a quote is opened and never closed; close it."
    if "expected after" in error:
        return "text follows a closing quote; double the quotes inside a quoted field."
    return (
        f"a field is longer than {LONGEST_FIELD:,} characters; shorten it, or close a quote "
        "that was left open."
    )


def refuse_values_as_names(file: str, columns: Sequence[TextColumn]) -> None:
    """Refuse a header if names look like values of their own columns."""
    values = {Form.NUMBER, Form.EXPONENT, Form.CODE, Form.DATE, Form.OTHER_DATE, Form.CLOCK}
    if any(c.has and c.has <= values and text_form(c.name) is Form.WORD for c in columns):
        return  # a word is above numbers or dates
    odd = []
    # of numbers and dates see `header_row`
    words = [(i, c) for i, c in enumerate(columns, 1) if text_form(c.name) not in NO_NAMES]
    for position, column in words:
        name = column.name.strip()
        texts = column.different.slice(0, _LOOKED_AT).to_pylist()
        pattern = _pattern(name)
        known = [text for text in texts if text]
        same = "9" in pattern and len(known) > 1 and all(_pattern(e) == pattern for e in known)
        if same or (Form.WORD in column.has and name in texts):
            odd.append(str(position))
    if odd:
        places = ", ".join(odd[:3]) + (", ..." if len(odd) > 3 else "")
        raise InputError(
            f"{file}, line 1, column {places}: the name looks like a value of the column, as if "
            "the header line were left out; add a line with the names, or give a schema with them."
        )


def _pattern(text: str) -> str:
    """Return the pattern of a text: letters as a, digits as 9."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))


def refuse_other_separator(file: str, text: bytes, separator: str) -> None:
    """Refuse a text that another mark divides into more fields than the expected one."""
    expected = _fields(text, separator)
    for mark, what in _MARKS.items():
        # as many semicolons as commas in every line, the first included, are no accident
        least = max(expected, 2) if mark in _STRONG else expected + 1
        if mark != separator and _fields(text, mark) >= least:
            raise InputError(
                f"{file}, line 1: the fields seem to be separated by {what}; "
                f"say which, or save the table with {_MARKS[separator]} between them and points in "
                "decimals."
            )
    # blanks, or runs of them, may divide every line into equally many fields
    start = text[: 100 * _LINES_SEEN].decode("utf-8", "replace")
    lines = [line for line in start.splitlines()[:_LINES_SEEN] if line.strip()]
    parts = {len(line.split()) for line in lines}
    spaced = (len(parts) == 1 and parts != {1}) or all(_COLUMNS.search(e.strip()) for e in lines)
    if expected <= 1 and len(lines) > 1 and spaced and not any('"' in line for line in lines):
        raise InputError(
            f"{file}, line 1: the fields seem to be separated by blanks or to have a fixed width; "
            f"save the table with {_MARKS[separator]} between them, or put quotes around texts "
            "that hold blanks."
        )


def _fields(text: bytes, mark: str) -> int:
    """Count the fields of every line with this separator; 1 if the lines disagree."""
    try:
        records = islice(_Text("", text, mark).records(), _LINES_SEEN)
        widths = {len(record) for record in records if record}
    except csv.Error:
        return 1
    return widths.pop() if len(widths) == 1 else 1
