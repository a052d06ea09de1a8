"""Guess the layout of a file, for the user to confirm."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any

import pyarrow as pa

from rwn_core.data.file_layout import (
    FOR_MISSING,
    MOST_HEADER,
    MOST_LINES,
    SEPARATORS,
    USUAL_DATES,
    FileLayout,
)
from rwn_core.errors import SchemaError
from rwn_core.io.header_row import NO_NAMES, NUMBER, is_year, number_of, values_among_names
from rwn_core.io.text_types.column import (
    NOTHING,
    Form,
    fitting_notations,
    text_form,
    text_forms,
    without_blanks,
)
from rwn_core.io.text_types.lay_out import holds_groups

_START, _END = 200_000, 20_000  # bytes that are looked at
_PICTURED = 12  # fields of a line that are shown
_LINES = 200
_MOST_BELOW = 20
_FEWEST = 0.6  # of the lines that must have as many fields as most
_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
_TOTAL = re.compile(
    r"(?i)((grand|overall|all)[ -])?(totals?|sums?)|(gesamt|end)?summe|gesamt|insgesamt|zusammen"
    r"|ensemble|somme|totale|totaal|suma|soma|итого|всего|合計|总计|mean|average|mittelwert"
    r"|durchschnitt|moyenne"
)
_NOTE = re.compile(
    r"(?i)(sources?|notes?|footnotes?|quellen?|anmerkung(en)?|hinweise?|fuentes?|notas?|remarques?"
    r"|stand|as of|copyright)\b|[*†©¹²]"
)
_FEWEST_RECORDS = 4  # above an empty row, from which on a block below it may be a legend
_FEW_WORDS = 0.1  # of the cells of a column of numbers
_FEW = 8  # records, above which one sum in a row without a word is a total
_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]{2,}")
_VALUES = set(Form) - NOTHING - {Form.INFINITE, Form.THOUSANDS, Form.SPELLED, Form.UNIT, Form.WORD}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedLayout:
    """The layout that a file seems to have."""

    layout: FileLayout
    sheets: tuple[str, ...] = ()  # of a workbook, that with the table first; none of another file
    # first and last rows of that sheet: the number of each, from 0, and its first cells as texts
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()
    opens: bool = False  # whether the file was read so, and nothing of it was lost

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        layout = self.layout.changed()
        return {"layout": layout, "sheets": self.sheets, "rows": self.rows, "opens": self.opens}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> GuessedLayout:
        """Read the plain data."""
        return cls(
            layout=FileLayout.from_dict(plain["layout"]),
            sheets=tuple(str(sheet) for sheet in plain["sheets"]),
            rows=tuple((int(number), tuple(map(str, cells))) for number, cells in plain["rows"]),
            opens=bool(plain["opens"]),
        )


def _first_of_width(lines: Sequence[str], mark: str, width: int) -> int:
    """Return the number of the first line with so many fields; 0 where none has."""
    wide = (number for number, line in enumerate(lines) if len(_fields(line, mark)) == width)
    return next(wide, 0)


def _split(lines: Sequence[str], mark: str) -> list[list[str]]:
    """Return the fields of the lines that are not empty."""
    return [_fields(line, mark) for line in lines if line.strip()]


def guess_text_layout(content: bytes, usual: str) -> GuessedLayout | None:
    """Guess the layout of a text from its beginning and its end."""
    encoding = _encoding(content)
    start = content[:_START].decode(encoding, "replace")
    if "\0" in start:
        return None
    complete = len(content) <= _START
    lines = start.splitlines()[: None if complete else -1]
    if not any(line.strip() for line in lines):
        return None
    mark, width = _separator(lines[:_LINES], usual)
    above = _first_of_width(lines[:_LINES], mark, width)
    records = [each for each in _split(lines[above:_LINES], mark) if len(each) == width]
    end = lines[above + 1 :]
    first = above + 1
    if not complete:
        first = content.count(b"\n", 0, len(content) - _END) + 1
        end = content[-_END:].decode(encoding, "replace").splitlines()[1:]
    body = _split(end, mark) if width > 1 else []
    decimal, grouped = guessed_groups(records, guessed_decimal(records, mark))
    try:
        layout = FileLayout(
            encoding=encoding,
            separator=None if mark == usual else mark,
            decimal=decimal,
            grouped=grouped,
            header=_has_names(records),
            above=min(above, MOST_LINES),
            below=rows_at_end(body, width if width > 1 else 0, complete=complete),
            dates=guessed_dates(records),
            missing=guessed_missing(records),
        )
    except SchemaError:
        return None
    return GuessedLayout(layout=layout, rows=_last_rows(end, first, mark, layout.below))


def _last_rows(
    end: Sequence[str], first: int, mark: str, below: int
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the lines below the table: the number of each, from 0, and its first fields."""
    # first: the number of the first line of the end
    written = [number for number, line in enumerate(end) if line.strip()]
    shown = written[len(written) - below :]
    return tuple((first + n, tuple(_fields(end[n], mark)[:_PICTURED])) for n in shown)


def _separator(lines: Sequence[str], usual: str) -> tuple[str, int]:
    """Return the mark that divides most lines into equally many fields, and how many those are.

    One that leaves other marks within its fields, but for decimals, is the likelier a part of them.
    """
    best = (0.0, 0.0, 0)
    found = (usual, 1)
    for mark in dict.fromkeys((usual, *SEPARATORS)):
        records = [_fields(line, mark) for line in lines if line.strip()]
        widths = Counter(map(len, records))
        several = {width: count for width, count in widths.items() if width > 1}
        if not several:
            continue
        width = max(several, key=lambda each: (several[each], each))
        share = several[width] / max(len(records), 1)
        torn = sum(map(_holds_a_mark, records))
        how_well = (round(share, 1), -round(torn / max(len(records), 1), 1), width)
        if share >= _FEWEST and how_well > best:
            best = how_well
            found = (mark, width)
    return found


def _holds_a_mark(record: Sequence[str]) -> bool:
    """True if a field of a record holds a mark which is no part of a number."""
    words = [field for field in record if not NUMBER.fullmatch(field.strip())]
    return not SEPARATORS.keys().isdisjoint("".join(words))


def _has_names(records: Sequence[Sequence[str]]) -> bool:
    """True if the first record has names: no numbers and dates but those that are no values."""
    first = records[0] if records else []
    forms = {place: text_form(field) for place, field in enumerate(first)}
    if any(form in (Form.CLOCK, Form.INFINITE) for form in forms.values()):
        return False
    doubted = {place: first[place] for place, form in forms.items() if form in NO_NAMES}
    columns = {place: [record[place] for record in records[1:]] for place in doubted}
    return not values_among_names(doubted, columns)


def wide_encoding(content: bytes) -> str | None:
    """The encoding of two or four bytes a letter that a text is marked with."""
    # the mark of UTF-32 begins with that of UTF-16
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None


def _encoding(content: bytes) -> str:
    if (wide := wide_encoding(content)) is not None:
        return wide
    if content.isascii():
        return "utf-8"
    for encoding in ("utf-8", "cp932", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        # Japanese: most letters beyond ASCII stand in runs of Japanese ones
        beyond = sum(not letter.isascii() for letter in text)
        if encoding != "cp932" or 2 * sum(map(len, _JAPANESE.findall(text))) >= beyond:
            return encoding
    return "latin-1"


def _fields(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line), delimiter=mark), [])
    except csv.Error:
        return []


def guessed_decimal(records: Sequence[Sequence[str]], mark: str) -> str:
    """Return the decimal mark that most numbers have; the first record has the names."""
    if mark == ",":
        return "."
    fields = [field.strip() for field in chain.from_iterable(records[1:])]
    commas, points = (sum(map(bool, map(each.fullmatch, fields))) for each in (_COMMA, _POINT))
    return "," if commas > points else "."


def guessed_groups(records: Sequence[Sequence[str]], decimal: str) -> tuple[str, bool]:
    """Return the decimal mark, and whether some columns have numbers in groups or in brackets."""
    columns = [_known(fields) for fields in zip(*records[1:], strict=True)]
    for mark in (decimal, *({".", ","} - {decimal})):
        if any(holds_groups(different, mark) for different in columns):
            return mark, True
    return decimal, False


def guessed_dates(records: Sequence[Sequence[str]]) -> str:
    """The notation of dates that every column of them has, where no other one fits."""
    found = set()
    for fields in zip(*records[1:], strict=True):
        texts = _known(fields)
        if len(texts) and (text_forms(texts) == Form.OTHER_DATE).all():
            found.add(tuple(fitting_notations(texts)))
    fits = found.pop() if len(found) == 1 else ()
    return fits[0] if len(fits) == 1 else USUAL_DATES


def guessed_missing(records: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return usual words for a missing value in columns that have numbers or dates besides."""
    found: set[str] = set()
    for fields in zip(*records[1:], strict=True):
        words = {each.strip() for each in fields if FOR_MISSING.fullmatch(each.strip())}
        forms = set(text_forms(_known(fields)).tolist()) if words else set()
        if forms and forms <= _VALUES:
            found |= {word for word in words if text_form(word) is not Form.MISSING}
    return tuple(sorted(found))


def _known(fields: Sequence[str]) -> pa.Array:
    """Return the texts that stand for a value."""
    known = [each for each in fields if each.strip() and not FOR_MISSING.fullmatch(each.strip())]
    return without_blanks(pa.array(known, pa.large_string()))


def rows_at_end(rows: Sequence[Sequence[Any]], width: int, *, complete: bool) -> int:
    """Count the last rows that are no records: of another width, a note, or totals."""
    # of rows that are not all of the table, no sums are taken
    rows = rows[: last_filled(rows, len(rows))]
    found = _rows_after_a_gap(rows)
    for number in range(found + 1, min(len(rows) - 1, _MOST_BELOW + 2)):
        row = rows[-number]
        above = [each for each in rows[:-number] if len(each) == width]
        if not any(map(filled, row)):
            continue  # it counts where a note stands above or below it
        if len(row) == width and not _is_note(row, above) and not _is_total(row, above, complete):
            break
        if _is_record_with_more(row, width):
            break
        found = number
    return found if found <= _MOST_BELOW else 0


def _is_record_with_more(row: Sequence[Any], width: int) -> bool:
    """True if a line has a value in each field, and more of them than the table has columns."""
    if len(row) <= width or not all(map(filled, row)):
        return False
    is_note = _NOTE.match(str(row[0]).strip()) is not None
    return not is_note and any(number_of(cell) is not None for cell in row)


def _rows_after_a_gap(rows: Sequence[Sequence[Any]]) -> int:
    """Count the rows below the first empty one, such as a legend, where none is like a record."""
    gap = next((place for place, row in enumerate(rows) if not any(map(filled, row))), 0)
    records = rows[:gap]
    if len(records) < _FEWEST_RECORDS:
        return 0
    most = sorted(sum(map(filled, row)) for row in records)[len(records) // 2]
    numeric = [place for place in range(len(records[0])) if _has_numbers(records, place)]
    for row in rows[gap:]:
        words = [place for place in numeric if filled(row[place]) and number_of(row[place]) is None]
        if sum(map(filled, row)) >= most and not words:
            return 0
    first = next(place for place in range(gap, len(rows)) if any(map(filled, rows[place])))
    return len(rows) - first


def _has_numbers(records: Sequence[Sequence[Any]], place: int) -> bool:
    """True if nearly all cells of a column are numbers."""
    known = [number_of(row[place]) for row in records if filled(row[place])]
    return len(known) > 0 and sum(each is None for each in known) <= _FEW_WORDS * len(known)


def _is_note(row: Sequence[Any], above: Sequence[Sequence[Any]]) -> bool:
    """True if words begin as a note does, or stand alone where numbers do."""
    places = [place for place, cell in enumerate(row) if filled(cell)]
    if len(places) == len(row) or any(number_of(row[place]) is not None for place in places):
        return False
    known = [each[places[0]] for each in above if filled(each[places[0]])]
    alone = len(places) == 1 and sum(number_of(cell) is None for cell in known) < len(known) / 2
    return alone or _NOTE.match(str(row[places[0]]).strip()) is not None


def _is_total(row: Sequence[Any], above: Sequence[Sequence[Any]], complete: bool) -> bool:
    """True if a row is called a total, once, or has the sums of those above."""
    cells = {place: number_of(cell) for place, cell in enumerate(row) if filled(cell)}
    numbers = {place: number for place, number in cells.items() if number is not None}
    words = [place for place in cells if place not in numbers]
    for place in words:
        called = [_is_called_a_total(each[place]) for each in (*above, row)]
        if called[-1]:  # and no level of a category: several totals stand together
            first_total = called.index(True)
            totals_stand_at_the_end = all(called[first_total:])
            return bool(numbers) and totals_stand_at_the_end
    # one sum alone is luck where the row has words, or few rows stand above it
    enough = 2 if words or len(above) < _FEW else 1
    if not complete or len(numbers) < enough:
        return False
    return all(_is_sum_of(number, place, above) for place, number in numbers.items())


def _is_called_a_total(cell: object) -> bool:
    """True if a cell holds a word such as Total or Summe."""
    return _TOTAL.fullmatch(str(cell).strip()) is not None


def _is_sum_of(number: float, place: int, above: Sequence[Sequence[Any]]) -> bool:
    """True if a number is the sum of four or more others at its place in the rows above."""
    values = [number_of(each[place]) or 0.0 for each in above]
    return sum(map(bool, values)) >= 4 and abs(sum(values) - number) <= 1e-6 * abs(number)


def names_of_sheet(
    start: Sequence[Sequence[Any]], merged: Sequence[Any], left: int
) -> tuple[int, int]:
    """Guess the number of rows above the names, and of those with the names."""
    some = [row for row in start if _has_values(row)]
    columns = _columns_of(some)
    full = [number for number, row in enumerate(start) if _is_full(row, columns)]
    if len(columns) < 2 or not full:
        return 0, 1
    first = full[0]
    first -= _names_rows(start[max(first - 1, 0)], start[first], columns)
    above = _first_of_names(start, first, columns)
    count = first - above or 1
    while above > 0 and count < MOST_HEADER:
        spans = _spans(merged, above - 1, left + columns[0])
        repeats = count == 1 and _repeats(start[above], columns)
        if not (spans or repeats) or not _is_heading(start[above - 1], columns):
            break
        above -= 1
        count += 1
    count += _rows_of_units(start[above + count :], some, columns, MOST_HEADER - count)
    something_above = any(map(_has_values, start[:above]))
    return above if something_above else 0, count


def _has_values(row: Sequence[Any]) -> bool:
    """True if some cell of a row is filled."""
    return any(map(filled, row))


def _is_full(row: Sequence[Any], columns: Sequence[int]) -> bool:
    """True if all these cells of a row are filled."""
    return all(filled(row[place]) for place in columns)


def _columns_of(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the columns that are filled in half of some rows or more."""
    width = len(rows[0]) if rows else 0
    least = len(rows) / 2
    return [i for i in range(width) if sum(filled(row[i]) for row in rows) >= least]


def _repeats(row: Sequence[Any], columns: Sequence[int]) -> bool:
    """True if two columns have one name, so that the row above may tell them apart."""
    return len({str(row[j]) for j in columns}) < len(columns)


def _spans(merged: Sequence[Any], row: int, first: int) -> bool:
    """True if a merged area of several columns begins in a row, beyond the first column."""
    return any(area[0] == row and first < area[1] < end[1] for area, end in merged)


def _rows_of_units(
    below: Sequence[Sequence[Any]], some: Sequence[Sequence[Any]], columns: Sequence[int], most: int
) -> int:
    """Count the rows below the names that hold units: where several columns have numbers."""
    numbers = [j for j in columns if sum(isinstance(r[j], str) for r in some) <= len(some) / 2]
    if len(numbers) < 2:
        return 0
    rows = takewhile(lambda row: _has_units(row, numbers), below[: max(most, 0)])
    return sum(1 for _ in rows)


def _first_of_names(start: Sequence[Sequence[Any]], first: int, columns: Sequence[int]) -> int:
    """Return the first of the rows that hold the names.

    Where no row has all names, they stand in several rows above the first full one, which have
    nothing but words.
    """
    if all(isinstance(start[first][j], str) for j in columns):
        return first
    for top in range(first - 2, max(first - MOST_HEADER, 0) - 1, -1):
        rows = start[top:first]
        if _has_words_only(rows) and all(any(filled(row[j]) for row in rows) for j in columns):
            return top
    return first


def _has_words_only(rows: Sequence[Sequence[Any]]) -> bool:
    """True if rows have nothing but texts, and years."""
    cells = [cell for cell in chain.from_iterable(rows) if filled(cell)]
    return all(isinstance(cell, str) or is_year(cell) for cell in cells)


def _is_heading(row: Sequence[Any], columns: Sequence[int]) -> bool:
    """True if a row has a cell beyond the first column, as headings over several columns have."""
    places = [place for place, cell in enumerate(row) if filled(cell)]
    return bool(places) and places != [columns[0]]


def _has_units(row: Sequence[Any], numbers: Sequence[int]) -> bool:
    """True if a row has a text of units in each column of numbers."""
    cells = [row[j] for j in numbers]
    return all(isinstance(u, str) and u and not FOR_MISSING.fullmatch(u) for u in cells)


def _names_rows(names: Sequence[Any], record: Sequence[Any], columns: Sequence[int]) -> bool:
    """True if a row has all names but the first, as above row names, and no record follows them."""
    rest = columns[1:]
    if filled(names[columns[0]]) or not all(isinstance(names[j], str) and names[j] for j in rest):
        return False
    return any(filled(record[j]) and not isinstance(record[j], str) for j in rest)


def joined_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the names of several rows, column by column; a heading goes on to the right.

    >>> joined_names([["Region", "Income", "", "Age"], ["", "men", "women", ""]])
    ['Region', 'Income men', 'Income women', 'Age']
    """
    names: list[list[str]] = [[] for _ in rows[0]]
    for number, row in enumerate(rows):
        heading = ""
        for place, cell in enumerate(row):
            below = any(other[place].strip() for other in rows[number + 1 :])
            heading = cell if cell.strip() or not below else heading
            if heading.strip() and names[place][-1:] != [heading]:
                names[place].append(heading)
    return [" ".join(" ".join(parts).split()) for parts in names]


def without_breaks(name: str) -> str:
    """Return a name without its line breaks."""
    return " ".join(name.split()) if "\n" in name or "\r" in name else name


def last_filled(rows: Sequence[Sequence[Any]], end: int) -> int:
    """Return the number of rows without the empty ones at the end."""
    while end and not any(map(filled, rows[end - 1])):
        end -= 1
    return end


def filled(value: object) -> bool:
    """True if a cell has a value."""
    return value is not None and value != ""
