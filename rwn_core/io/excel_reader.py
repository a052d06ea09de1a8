"""Excel in: the table of the sheet with most rows, without the rows above and below it."""

from __future__ import annotations

import datetime
import io
import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import python_calamine
from numpy.typing import ArrayLike

from rwn_core.data.file_layout import MOST_LINES, USUAL_DATES, FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import LARGEST_NUMBER, level_text
from rwn_core.data.variable import NUMBERS, Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.excel_container import Marks, check_workbook, shown_as_codes
from rwn_core.io.guessed_layout import (
    GuessedLayout,
    filled,
    guessed_dates,
    guessed_decimal,
    guessed_groups,
    guessed_missing,
    joined_names,
    last_filled,
    names_of_sheet,
    rows_at_end,
    without_breaks,
)
from rwn_core.io.header_row import values_among_names
from rwn_core.io.limits import (
    LARGEST_WHOLE,
    MOST_CELLS,
    PROTECTED,
    chosen_columns,
    damaged,
)
from rwn_core.io.row_names import named
from rwn_core.io.text_types.column import Form, TextColumn, text_forms
from rwn_core.io.text_types.convert import table_of_columns, typed
from rwn_core.io.text_types.lay_out import with_points, without_groups

Rows = list[list[Any]]

_VISIBLE = python_calamine.SheetVisibleEnum.Visible
_PICTURED = 12  # rows and columns of a sheet that are shown as they are
_LAST_ROWS = 6
_START, _END = 200, 20  # rows that are looked at

_NUMBER, _TEXT, _TRUTH, _DATE, _TIME = "number", "text", "truth value", "date", "time of the day"
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, _TRUTH),
    (int, _NUMBER),
    (float, _NUMBER),
    (str, _TEXT),
    (datetime.date, _DATE),  # a datetime is a date
    (datetime.time, _TIME),
    (datetime.timedelta, _TIME),
)


def _refuse_open_formulas(file: str, rows: Sequence[int]) -> None:
    """Refuse a table with formulas that have no stored result, in these rows of the sheet."""
    if not rows:
        return
    which = "1 cell is a formula" if len(rows) == 1 else f"{len(rows):,} cells are formulas"
    raise InputError(
        f"{file}, row {rows[0]:,}: {which} without a stored result; open the file in a "
        "spreadsheet program and save it."
    )


def _without_missing(cell: object, layout: FileLayout) -> Any:
    """Return a cell, as an empty text if the layout names its text as a missing value."""
    return "" if isinstance(cell, str) and cell.strip() in layout.missing else cell


def read_excel(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a workbook."""
    by_sheet = check_workbook(file, content)
    layout = layout or FileLayout()
    rows, first, left, sheet, notices = chosen_sheet(file, content, layout)
    marks = by_sheet.get(sheet, Marks())
    # a record of such formulas alone would be lost, unless rows below the table are stated
    end = first + len(rows) if layout.below else math.inf
    _refuse_open_formulas(file, [row for row in marks.open_rows if first <= row < end])
    notices += marks.notices(len(rows[0]))
    names = _header(file, rows, first, layout.header)
    rows = rows[layout.header - 1 :]
    first = first + layout.header - 1
    names = named(names, schema)
    chosen, wide = chosen_columns(file, names, schema, layout, f", row {first:,}")
    if len(rows) < 2:
        raise InputError(
            f"{file}: no record follows the header line; masking needs at least two records."
        )
    series = {}
    as_texts: dict[str, str] = {}
    for position in chosen:
        name = names[position]
        plain = [_without_missing(row[position], layout) for row in rows[1:]]
        values = plain
        variable = None if schema is None else schema.by_name.get(name)
        code = marks.code_of(left + position, len(values))
        if code and (variable is None or variable.kind not in NUMBERS):
            values = shown_as_codes(plain, code)
        if values is not plain:
            written = code.replace("\0", "0")
            notices.append(
                f"{name} has zeros or marks in its numbers by the format of its cells "
                f"({written}): it is categorical, with the texts that Excel shows."
            )
        column = Cells(name, values, first + 1, layout)
        try:
            series[name], noticed = column.typed(variable)
        except InputError as refusal:
            as_texts[name] = str(refusal)
            series[name] = column.texts()
            noticed = []
        notices += noticed
    return table_of_columns(file, series, schema, [*wide, *notices], as_texts)


def _header(file: str, rows: Rows, first: int, header: int) -> list[str]:
    """The names of the columns, of several rows joined; numbers only where they are no values."""
    if not header:
        raise InputError(
            f"{file} is to be read with a given header, which an Excel workbook does not have; "
            "leave it out."
        )
    others = [place for place, name in enumerate(rows[0]) if not isinstance(name, str)]
    columns = {place: [row[place] for row in rows[1:]] for place in others}
    values = values_among_names({place: rows[0][place] for place in others}, columns)
    if header == 1 and others and (values or not all(map(filled, rows[0][1:]))):
        # the name stays out of the message: without a header line it is a cell's value
        place = (values or others)[0] + 1
        raise InputError(
            f"{file}, row {first:,}, column {place}: the name is a number or a date, as if the "
            "header line were left out; add a line with the names."
        )
    texts = [list(map(level_text, row)) for row in rows[:header]]
    return joined_names(texts) if header > 1 else [*map(without_breaks, texts[0])]


class Cells:
    """One column of a sheet: values as the library has them, and the row of the first record."""

    days_are_texts = False  # whether the format has no days, so that texts of them are dates

    def __init__(self, name: str, values: list[Any], first: int, layout: FileLayout) -> None:
        self.name, self.values, self.first = name, values, first
        self.layout = layout
        self.gaps = np.array([value is None or value == "" for value in values])
        self.kinds = np.array([_column_kind(value) for value in values], dtype=object)

    def typed(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column with the type of its cells; an InputError where it is mixed."""
        kinds = set(self.kinds[~self.gaps])
        if kinds == {_TIME}:
            said = f"{self.name} has times of the day or durations: they are numbers of seconds."
            return pd.Series([_seconds(value) for value in self.values], dtype="float64"), [said]
        if variable is not None and variable.kind is Kind.CATEGORICAL and kinds != {_TRUTH}:
            return self.texts(), []
        if self._is_written(kinds):
            return self._as_text_file(variable)
        if len(kinds) > 1:
            usual = max(sorted(kinds), key=lambda kind: int((self.kinds == kind).sum()))
            odd = ~self.gaps & (self.kinds != usual)
            remedy = "write one kind of value in each column"
            self._refuse(odd, f"no {usual}s, and the others are", remedy)
        make: dict[str, Callable[[], pd.Series[Any]]] = {
            _NUMBER: self._numbers,
            _DATE: self._dates,
            _TRUTH: lambda: pd.Series(self._known(), dtype="boolean" if self.gaps.any() else bool),
        }
        if not kinds:
            return pd.Series(np.full(len(self.values), np.nan)), []
        return make.get(kinds.pop(), self.texts)(), self._notices()

    def _is_written(self, kinds: set[str]) -> bool:
        """True if numbers, dates or times are written as texts, in the way that is stated."""
        if _TEXT not in kinds or not kinds <= {_TEXT, _NUMBER}:
            return False
        layout = self.layout
        if layout.decimal == "," or layout.dates != USUAL_DATES or layout.grouped:
            return True
        return kinds == {_TEXT} and self._are_times()

    def _as_text_file(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column as a text file with the same texts has it."""
        layout = self.layout
        texts = ["" if value is None else level_text(value) for value in self._known()]
        if layout.decimal == ",":
            pairs = zip(texts, self.kinds == _NUMBER, strict=True)
            texts = [text.replace(".", ",") if number else text for text, number in pairs]
        column = pc.dictionary_encode(pa.array(texts, pa.large_string()))
        if layout.grouped:
            column = without_groups(column, layout.decimal)
        odd_decimals: dict[str, str] = {}
        if layout.decimal == ",":
            column = with_points(self.name, column, odd_decimals)
        if odd_decimals:
            raise InputError(odd_decimals[self.name])
        made = TextColumn(self.name, column, lambda rows: [row + self.first for row in rows], "row")
        stated_dates = None if layout.dates == USUAL_DATES else layout.dates
        return typed(made, variable, (variable and variable.notation) or stated_dates)

    def _are_times(self) -> bool:
        """True if all texts are times of the day, or days of a format that has no others."""
        forms = self._forms(set(self.values) - {"", None})
        return forms == {Form.CLOCK} or (self.days_are_texts and forms == {Form.DATE})

    def _forms(self, texts: set[str]) -> set[int]:
        return set(text_forms(pa.array(list(texts), pa.large_string())).tolist())

    def _notices(self) -> list[str]:
        """Say of texts what they seem to be, and how the file is to be read then."""
        forms = self._forms({value for value in self.values if isinstance(value, str) and value})
        what, how = "", ""
        if forms and forms <= {Form.NUMBER, Form.CODE}:
            return [f"{self.name} has numbers written as texts: it is categorical."]
        if Form.DECIMAL_COMMA in forms and forms <= {Form.DECIMAL_COMMA, Form.NUMBER}:
            what, how = "numbers with decimal commas", 'decimal = ","'
        elif forms and forms <= {Form.DATE, Form.OTHER_DATE}:
            what, how = "dates", "dates = DD.MM.YYYY, say"
        said = (
            f"{self.name} has {what} written as texts: it is categorical, unless the layout of "
            f"the file says so ({how})."
        )
        return [said] if what else []

    def _numbers(self) -> pd.Series[Any]:
        numbers = np.array([np.nan if v is None else float(v) for v in self._known()])
        large = (np.abs(numbers) > LARGEST_NUMBER) & np.isfinite(numbers)
        self._refuse(large, f"numbers beyond {LARGEST_NUMBER:g}", "write another unit")
        known = numbers[~self.gaps]
        if not np.isfinite(known).all() or (known % 1 != 0).any():
            return pd.Series(numbers)
        fault = "whole numbers of 2^53 or more, which Excel rounds"
        self._refuse(np.abs(numbers) >= LARGEST_WHOLE, fault, "write them as texts")
        return pd.Series(numbers).astype("Int64" if self.gaps.any() else "int64")

    def _dates(self) -> pd.Series[Any]:
        known = self._known()
        clocks = (getattr(value, "time", datetime.time)() for value in known)
        moments = pd.to_datetime(pd.Series(known, dtype=object), errors="coerce")
        days = all(clock == datetime.time() for clock in clocks)
        return moments.astype("datetime64[s]" if days else "datetime64[us]")

    def _known(self) -> list[Any]:
        return [None if gap else value for gap, value in zip(self.gaps, self.values, strict=True)]

    def texts(self) -> pd.Series[Any]:
        """The column as texts."""
        texts = [None if value is None else level_text(value) for value in self._known()]
        return pd.Series(pd.array(texts, dtype="str"))

    def _refuse(self, wrong: ArrayLike, what: str, remedy: str) -> None:
        rows = np.flatnonzero(wrong)
        places = ", ".join(f"{row + self.first:,}" for row in rows[:3])
        dots = ", ..." if len(rows) > 3 else ""
        hold = f"s {places}{dots}: {len(rows):,} cells hold"
        if len(rows) == 1:
            hold = f" {places}: 1 cell holds"
        if len(rows):
            raise InputError(f"row{hold} {what}; {remedy}")


def _seconds(value: datetime.time | datetime.timedelta | str | None) -> float:
    """Return a time of the day, or a duration, in seconds; NaN for an empty cell."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value) - datetime.datetime.min
    return value.total_seconds() if isinstance(value, datetime.timedelta) else math.nan


def _column_kind(value: object) -> str:
    return next((kind for type_, kind in _KINDS if isinstance(value, type_)), _TEXT)


def _sheets(content: bytes) -> tuple[list[tuple[str, Any]], list[str]]:
    """The visible sheets with values by their names, and the names of the hidden ones."""
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    hidden = [each.name for each in book.sheets_metadata if each.visible != _VISIBLE]
    visible = (each.name for each in book.sheets_metadata if each.visible == _VISIBLE)
    tables = [(name, book.get_sheet_by_name(name)) for name in visible]
    return [(name, sheet) for name, sheet in tables if sheet.start is not None], hidden


def _has_values_at(place: int, rows: Rows) -> bool:
    """True if some row has a value in a column."""
    return any(filled(row[place]) for row in rows)


def chosen_sheet(
    file: str, content: bytes, layout: FileLayout
) -> tuple[Rows, int, int, str, list[str]]:
    """Find the table of a workbook.

    Its rows with that of the names, as the library gives the cells, an empty one as an empty text;
    the numbers in the sheet of that row, from 1, and of its first column, from 0; the sheet's name;
    and notices.
    """
    try:
        sheets, hidden = _sheets(content)
        if not sheets:
            raise InputError(f"{file} holds no visible sheet with values; choose another file.")
        name, sheet = _chosen(file, sheets, layout.sheet)
        rows = sheet.to_python(skip_empty_area=True)
        start, left = sheet.start or (0, 0)
        merged = sheet.merged_cell_ranges or []
    except python_calamine.CalamineError:
        raise damaged(file, PROTECTED) from None
    first, end = _filled_rows(file, rows, layout, start)
    rows = rows[first:end]
    used = [place for place in range(len(rows[0])) if _has_values_at(place, rows)]
    rows = [row[used[0] : used[-1] + 1] for row in rows]
    first += start
    left += used[0]
    # what a reader of the table must know of the rest of the workbook
    others = [other for other, _ in sheets if other != name]
    notices = [f"The sheet {name} is read; these are not: {', '.join(others)}."] if others else []
    if hidden:
        notices.append(f"Hidden sheets are not read: {', '.join(hidden)}.")
    notices += _merged(file, rows, layout, merged, first=first, left=left)
    return rows, first + 1, left, name, notices


def _filled_rows(file: str, rows: Rows, layout: FileLayout, start: int) -> tuple[int, int]:
    """Return the first row of the table and that after its last, without empty ones around it.

    `start` is the number of the first of these rows in the sheet.
    """
    end = last_filled(rows, len(rows)) - layout.below
    first = max(layout.above - start, 0)
    end = last_filled(rows, max(end, 0))
    while first < end and not any(map(filled, rows[first])):
        first += 1
    if first >= end:
        raise InputError(f"{file} has no row between those above and below; leave out fewer.")
    return first, end


def _merged(
    file: str, rows: Rows, layout: FileLayout, merged: Sequence[Any], *, first: int, left: int
) -> list[str]:
    """Fill merged cells of the header, then of the records where that is asked for, and say so."""
    names = layout.header if layout.header > 1 else 0
    _fill(rows, [area for area in merged if area[1][0] < first + names], first, left)
    if layout.fill:
        taken = _fill(rows, merged, first, left)
        cells = "1 cell has" if taken == 1 else f"{taken:,} cells have"
        return [f"Of merged cells, {cells} the value of their area."] if taken else []
    end = first + len(rows)
    inside = [area for area in merged if area[0][0] < end and area[1][0] >= first + names]
    if inside:
        row = inside[0][0][0] + 1
        areas = "is 1 merged area" if len(inside) == 1 else f"are {len(inside):,} merged areas"
        raise InputError(
            f"{file}, row {row:,}: there {areas} of cells; have every cell of an area take its "
            "value (fill = true), say how many rows have the names if these are merged (header = "
            "2), or take the merging back."
        )
    return []


def _fill(rows: Rows, merged: Sequence[Any], start: int, left: int) -> int:
    """Give the cells of merged areas of the table their area's value; return how many."""
    count = 0
    for (top, first), (bottom, last) in merged:
        if not start <= top < start + len(rows) or first < left:
            continue
        for row in rows[top - start : bottom + 1 - start]:
            for place in range(first - left, min(last + 1 - left, len(row))):
                count += not filled(row[place])
                row[place] = rows[top - start][first - left]
    return count


def _chosen(file: str, filled: Sequence[tuple[str, Any]], wanted: str | None) -> tuple[str, Any]:
    if wanted is None:
        return max(filled, key=lambda each: _extent(each[1]))  # the first of equals
    sheets = dict(filled)
    if wanted in sheets:
        return wanted, sheets[wanted]
    names = ", ".join(sheets)
    raise InputError(f"{file} has no visible sheet of that name with values; it has: {names}.")


def _extent(sheet: python_calamine.CalamineSheet) -> tuple[int, int]:
    """Rows of a sheet, none where it has one column of prose; and its columns."""
    (top, left), (bottom, right) = sheet.start or (0, 0), sheet.end or (0, 0)
    return (bottom - top + 1) * (right > left), right - left + 1


def seen_in_workbook(content: bytes) -> GuessedLayout:
    """List the sheets, and look for rows around the table of the one with most rows."""
    try:
        check_workbook("", content)  # a refused sheet may take any memory
        filled, _ = _sheets(content)
        if not filled:
            return GuessedLayout(layout=FileLayout())
        name, sheet = _chosen("", filled, None)
        last_row, last_column = sheet.end or (0, 0)
        small = (last_row + 1) * (last_column + 1) <= MOST_CELLS
        rows = sheet.iter_rows() if small else iter(())
        start = list(islice(rows, _START))
        end = deque(start, maxlen=_END)
        end.extend(rows)
        merged = sheet.merged_cell_ranges or []
    except (python_calamine.CalamineError, InputError):
        return GuessedLayout(layout=FileLayout())
    above, header = names_of_sheet(start, merged, (sheet.start or (0, 0))[1])
    body = start[above + header :] if last_row < _START else list(end)
    below = rows_at_end(body, len(start[0]) if start else 0, complete=last_row < _START)
    texts = [list(map(_written, row)) for row in start[above + header - 1 :]]
    decimal, grouped = guessed_groups(texts, guessed_decimal(texts, ";"))
    first = above + header if header > 1 else above
    last = last_row + 1 - below
    pictured = dict(enumerate(start[:_PICTURED]))
    if small:
        ends = list(end)[-_LAST_ROWS:]
        pictured |= dict(enumerate(ends, last_row + 1 - len(ends)))
    return GuessedLayout(
        layout=FileLayout(
            above=min(above, MOST_LINES),
            below=below,
            header=header,
            decimal=decimal,
            grouped=grouped,
            dates=guessed_dates(texts),
            missing=guessed_missing(texts),
            fill=_merged_down(merged, first, last),
        ),
        sheets=(name, *(other for other, _ in filled if other != name)),
        rows=tuple((number, _pictured_row(row)) for number, row in sorted(pictured.items())),
    )


def _merged_down(merged: Sequence[Any], first: int, last: int) -> bool:
    """True if an area of cells that begins in some rows of the sheet is of several rows."""
    return any(first <= start[0] < last and end[0] > start[0] for start, end in merged)


def _pictured_row(row: Sequence[Any]) -> tuple[str, ...]:
    """Return the first cells of a row as texts."""
    return tuple("" if value is None else level_text(value) for value in row[:_PICTURED])


def _written(value: object) -> str:
    """Return a cell as a text of a file has it; of a number its form alone."""
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()[:10]
    if isinstance(value, bool | int | float):
        return "0"  # its decimal mark is not in the file
    return "" if value is None else str(value)
