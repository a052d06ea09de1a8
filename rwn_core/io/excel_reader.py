"""Excel in: the table of the sheet with most rows, without the rows above and below it."""

from __future__ import annotations

import datetime
import io
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import python_calamine

from rwn_core.data.date_notation import USUAL_DATES
from rwn_core.data.file_layout import MOST_LINES, FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import LARGEST_NUMBER, check_names
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.excel_container import check_workbook
from rwn_core.io.file_name import in_file
from rwn_core.io.guessed_layout import (
    GuessedLayout,
    guessed_dates,
    guessed_decimal,
    guessed_missing,
)
from rwn_core.io.limits import LARGEST_WHOLE, MOST_CELLS, chosen_columns
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.convert import told_of_texts, typed
from rwn_core.io.text_types.lay_out import with_points
from rwn_core.io.text_types.patterns import Form, text_forms

Rows = list[list[Any]]

_VISIBLE = python_calamine.SheetVisibleEnum.Visible
_PICTURED = 12  # rows and columns of a sheet that are shown as they are
_LAST_ROWS = 6
_START, _END = 200, 20  # rows that are looked at
_OFTEN = 0.5  # of the first rows in which a column of the table has a value
_CLOCKLESS = datetime.time()
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


def read_excel(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a workbook."""
    found = check_workbook(file, content)
    layout = layout or FileLayout()
    sheet = chosen_sheet(file, content, layout)
    rows, first, notices = sheet.rows, sheet.first, sheet.notices
    if sheet.name in found.sheets:
        marks = found.sheets[sheet.name]
        # a record of such formulas alone would be lost, unless rows below the table are stated
        end = first + len(rows) if layout.below else math.inf
        _refuse_open_formulas(file, marks.open_rows, first, end)
        notices += marks.notices(len(rows[0]) if rows else 0)
    if found.formulas:
        notices.append(
            f"The file has {found.formulas:,} formulas: their stored results are read, and a "
            "release holds values only."
        )
    if found.macros:
        notices.append("The file has macros: they are neither run nor kept.")
    names = _header(file, rows[0], first)
    with in_file(f"{file}, row {first:,}"):
        check_names(pd.Index(names, dtype=object))
    if schema is not None:
        with in_file(file):
            schema.require_columns(names)
    if len(rows) < 2:
        raise InputError(
            f"{file}: no record follows the header line; masking needs at least two records."
        )
    series = {}
    chosen, wide = chosen_columns(file, names, schema, layout)
    as_texts: dict[str, str] = {}
    for position, name in ((place, names[place]) for place in chosen):
        values = [_emptied(row[position], layout.missing) for row in rows[1:]]
        cells = _Cells(file, name, values, first + 1, layout)
        variable = None if schema is None else schema.by_name.get(name)
        try:
            series[name], noticed = cells.typed(variable)
        except InputError as refusal:
            as_texts[name] = str(refusal).removeprefix(f"{file}, column {name}, ").rstrip(".")
            series[name], noticed = cells.texts(), []
        notices += noticed
    said, left_out = told_of_texts(as_texts, schema)
    notices = [*wide, *notices, *said]
    with in_file(file):
        frame = pd.DataFrame(series)
        return Microdata.from_own_frame(frame, schema, notices=tuple(notices), left_out=left_out)


def _refuse_open_formulas(file: str, rows: Sequence[int], first: int, end: float) -> None:
    """Refuse formulas of the table without a stored result; those around it do no harm."""
    inside = [row for row in rows if first <= row < end]
    if inside:
        cells = "1 cell is a formula" if len(inside) == 1 else f"{len(inside):,} cells are formulas"
        raise InputError(
            f"{file}, row {inside[0]:,}: {cells} without a stored result; open the file in a "
            "spreadsheet program and save it."
        )


def _emptied(value: Any, missing: Sequence[str]) -> Any:
    """Return a cell's value; an empty text for one that counts as missing."""
    return "" if isinstance(value, str) and value.strip() in missing else value


def _header(file: str, row: Sequence[Any], first: int) -> list[str]:
    for position, name in enumerate(row, start=1):
        if not isinstance(name, str):
            # the name stays out of the message: without a header line it is a cell's value
            raise InputError(
                f"{file}, row {first:,}, column {position}: the name is a number or a date, as "
                "if the header line were left out; add a line with the names."
            )
    return [" ".join(name.split()) if "\n" in name or "\r" in name else name for name in row]


class _Cells:
    """One column of a sheet: values as the library has them, and the row of the first record."""

    def __init__(
        self, file: str, name: str, values: list[Any], first: int, layout: FileLayout
    ) -> None:
        self.file, self.name, self.values, self.first = file, name, values, first
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
        written = self.layout.decimal == "," or self.layout.dates != USUAL_DATES
        written |= kinds == {_TEXT} and self._forms(set(self.values) - {"", None}) == {Form.CLOCK}
        if written and _TEXT in kinds and kinds <= {_TEXT, _NUMBER}:
            return self._as_written(variable)
        if len(kinds) > 1:
            usual = max(sorted(kinds), key=lambda kind: int((self.kinds == kind).sum()))
            odd = ~self.gaps & (self.kinds != usual)
            self._refuse(
                odd, f"no {usual}s, and the others are", "write one kind of value in each column"
            )
        make: dict[str, Callable[[], pd.Series[Any]]] = {
            _NUMBER: self._numbers,
            _DATE: self._dates,
            _TRUTH: self._truths,
        }
        if not kinds:
            return pd.Series([None] * len(self.values), dtype="float64"), []
        return make.get(kinds.pop(), self.texts)(), self._notices()

    def _as_written(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column as a text file with the same texts has it."""
        comma = self.layout.decimal == ","
        texts = [
            "" if gap else _text(value).replace(".", "," if comma and value_is_number else ".")
            for gap, value, value_is_number in zip(
                self.gaps, self.values, self.kinds == _NUMBER, strict=True
            )
        ]
        column = pc.dictionary_encode(pa.array(texts, pa.large_string()))
        if comma:
            odd: dict[str, str] = {}
            column = with_points(self.name, column, odd)
            if odd:
                raise InputError(odd[self.name])
        made = TextColumn(
            file=self.file,
            name=self.name,
            texts=column,
            lines=lambda rows: [row + self.first for row in rows],
            place="row",
        )
        usual = None if self.layout.dates == USUAL_DATES else self.layout.dates
        if not made.has:
            return pd.Series([None] * len(self.values), dtype="float64"), []
        return typed(made, variable, (variable and variable.notation) or usual)

    def _forms(self, texts: set[str]) -> set[int]:
        return set(text_forms(pa.array(list(texts), pa.large_string())).tolist())

    def _notices(self) -> list[str]:
        """Say of texts what they seem to be, and how the file is to be read then."""
        texts = {value for value in self.values if isinstance(value, str) and value}
        if not texts:
            return []
        forms = self._forms(texts)
        if forms <= {Form.NUMBER, Form.CODE}:
            return [f"{self.name} has numbers written as texts: it is categorical."]
        if Form.DECIMAL_COMMA in forms and forms <= {Form.DECIMAL_COMMA, Form.NUMBER}:
            what, how = "numbers with decimal commas", 'decimal = ","'
        elif forms <= {Form.DATE, Form.OTHER_DATE}:
            what, how = "dates", "dates = DD.MM.YYYY, say"
        else:
            return []
        return [
            f"{self.name} has {what} written as texts: it is categorical, unless the layout of "
            f"the file says so ({how})."
        ]

    def _numbers(self) -> pd.Series[Any]:
        numbers = np.array(
            [
                np.nan if gap else float(value)
                for gap, value in zip(self.gaps, self.values, strict=True)
            ]
        )
        large = np.abs(numbers) > LARGEST_NUMBER
        if large.any():
            self._refuse(large, f"numbers beyond {LARGEST_NUMBER:g}", "write another unit")
        known = numbers[~self.gaps]
        if (known % 1 != 0).any():
            return pd.Series(numbers)
        if (np.abs(known) >= LARGEST_WHOLE).any():
            self._refuse(
                np.abs(numbers) >= LARGEST_WHOLE,
                "whole numbers of 2^53 or more, which Excel rounds",
                "write them as texts",
            )
        return pd.Series(numbers).astype("Int64" if self.gaps.any() else "int64")

    def _dates(self) -> pd.Series[Any]:
        moments = [
            None if gap else value for gap, value in zip(self.gaps, self.values, strict=True)
        ]
        days = all(
            value is None or getattr(value, "time", datetime.time)() == _CLOCKLESS
            for value in moments
        )
        return pd.Series(pd.to_datetime(pd.Series(moments, dtype=object), errors="coerce")).astype(
            "datetime64[s]" if days else "datetime64[us]"
        )

    def _truths(self) -> pd.Series[Any]:
        values = pd.array(self.values, dtype=object)
        values[self.gaps] = None
        return pd.Series(values, dtype="boolean" if self.gaps.any() else bool)

    def texts(self) -> pd.Series[Any]:
        texts = [
            None if gap else _text(value) for gap, value in zip(self.gaps, self.values, strict=True)
        ]
        return pd.Series(pd.array(texts, dtype="str"))

    def _refuse(self, wrong: Any, what: str, remedy: str) -> None:
        rows = np.flatnonzero(wrong)
        places = ", ".join(f"{row + self.first:,}" for row in rows[:3])
        dots = ", ..." if len(rows) > 3 else ""
        raise InputError(
            f"{self.file}, column {self.name}, row{'s' * (len(rows) != 1)} {places}{dots}: "
            f"{'1 cell holds' if len(rows) == 1 else f'{len(rows):,} cells hold'} {what}; {remedy}."
        )


def _seconds(value: datetime.time | datetime.timedelta | str | None) -> float:
    """Return a time of the day, or a duration, in seconds; NaN for an empty cell."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value) - datetime.datetime.min
    return value.total_seconds() if isinstance(value, datetime.timedelta) else math.nan


def _column_kind(value: Any) -> str:
    return next((kind for type_, kind in _KINDS if isinstance(value, type_)), _TEXT)


def _text(value: Any) -> str:
    """A cell as a text; a whole number without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet's table."""

    # with that of the names; as the library gives the cells, an empty one as an empty text
    rows: Rows
    first: int  # the number of the row with the names in the sheet, from 1
    notices: list[str]
    name: str


def _sheets(content: bytes) -> tuple[list[tuple[str, Any]], list[str]]:
    """The visible sheets with values by their names, and the names of the hidden ones."""
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    hidden = [each.name for each in book.sheets_metadata if each.visible != _VISIBLE]
    visible = (each.name for each in book.sheets_metadata if each.visible == _VISIBLE)
    tables = [(name, book.get_sheet_by_name(name)) for name in visible]
    return [(name, sheet) for name, sheet in tables if sheet.start is not None], hidden


def chosen_sheet(file: str, content: bytes, layout: FileLayout) -> Sheet:
    """Find the table of a workbook."""
    try:
        filled, hidden = _sheets(content)
        if not filled:
            raise InputError(f"{file} holds no visible sheet with values; choose another file.")
        name, sheet = _chosen(file, filled, layout.sheet)
        rows = sheet.to_python(skip_empty_area=True)
        start, left = sheet.start or (0, 0)
        merged = sheet.merged_cell_ranges or []
    except python_calamine.CalamineError:
        raise InputError(
            f"{file} is damaged, cut off or protected by a password; get or save the file again."
        ) from None
    taken = _fill(rows, merged, layout.above, start, left) if layout.fill else 0
    first, end = start, start + len(rows)
    if layout.above or layout.below:
        rows, first = _table(file, rows, start, layout)
        end = first + len(rows)
    inside = [area for area in merged if area[0][0] < end and area[1][0] >= first]
    others = [other for other, _ in filled if other != name]
    notices = [f"The sheet {name} is read; these are not: {', '.join(others)}."] if others else []
    if hidden:
        notices.append(f"Hidden sheets are not read: {', '.join(hidden)}.")
    if inside and not layout.fill:
        row = inside[0][0][0] + 1
        areas = "is 1 merged area" if len(inside) == 1 else f"are {len(inside):,} merged areas"
        raise InputError(
            f"{file}, row {row:,}: there {areas} of cells; have every cell of an area take its "
            "value (fill = true), or take the merging back."
        )
    if taken:
        cells = "1 cell has" if taken == 1 else f"{taken:,} cells have"
        notices.append(f"Of merged cells, {cells} the value of their area.")
    return Sheet(rows, first + 1, notices, name)


def _fill(rows: Rows, merged: Sequence[Any], above: int, start: int, left: int) -> int:
    """Give the cells of merged areas below some rows their area's value; return how many."""
    count = 0
    for (top, first), (bottom, last) in merged:
        if top < above:
            continue
        for row in rows[top - start : bottom + 1 - start]:
            for place in range(first - left, min(last + 1 - left, len(row))):
                count += not _filled(row[place])
                row[place] = rows[top - start][first - left]
    return count


def _chosen(file: str, filled: Sequence[tuple[str, Any]], wanted: str | None) -> tuple[str, Any]:
    if wanted is None:
        return max(filled, key=lambda each: _extent(each[1]))  # the first of equals
    for name, sheet in filled:
        if wanted == name:
            return name, sheet
    raise InputError(
        f"{file} has no visible sheet of that name with values; it has: "
        f"{', '.join(name for name, _ in filled)}."
    )


def _extent(sheet: Any) -> tuple[int, int]:
    """Rows of a sheet, none where it has one column of prose; and its columns."""
    (top, left), (bottom, right) = sheet.start or (0, 0), sheet.end or (0, 0)
    return (bottom - top + 1) * (right > left), right - left + 1


def _table(file: str, rows: Rows, start: int, layout: FileLayout) -> tuple[Rows, int]:
    """The rows between those above and below, and the number of the first one, from 0."""
    # Empty rows and columns around them are left out, as around a whole sheet.
    end = _last(rows, len(rows)) - layout.below
    first = max(layout.above - start, 0)
    end = _last(rows, max(end, 0))
    while first < end and not any(map(_filled, rows[first])):
        first += 1
    if first >= end:
        raise InputError(f"{file} has no row between those above and below; leave out fewer.")
    inner = rows[first:end]
    used = [i for i in range(len(inner[0])) if any(_filled(row[i]) for row in inner)]
    return [row[used[0] : used[-1] + 1] for row in inner], start + first


def _last(rows: Sequence[Sequence[Any]], end: int) -> int:
    """Return the number of rows without the empty ones at the end."""
    while end and not any(map(_filled, rows[end - 1])):
        end -= 1
    return end


def _filled(value: object) -> bool:
    return value is not None and value != ""


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
    above, below = _around(start, list(end))
    texts = [[_written(value) for value in row] for row in start[above:]]
    last = last_row + 1 - below
    pictured = dict(enumerate(start[:_PICTURED]))
    if small:
        ends = list(end)[-_LAST_ROWS:]
        pictured |= dict(enumerate(ends, last_row + 1 - len(ends)))
    return GuessedLayout(
        layout=FileLayout(
            above=min(above, MOST_LINES),
            below=below,
            decimal=guessed_decimal(texts, ";"),
            dates=guessed_dates(texts),
            missing=guessed_missing(texts),
            fill=any(above < area[0][0] < last and area[1][0] > area[0][0] for area in merged),
        ),
        sheets=(name, *(other for other, _ in filled if other != name)),
        rows=tuple(
            (number, tuple("" if value is None else str(value) for value in row[:_PICTURED]))
            for number, row in sorted(pictured.items())
        ),
    )


def _written(value: Any) -> str:
    """Return a cell as a text of a file has it; of a number its form alone."""
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()[:10]
    if isinstance(value, bool | int | float):
        return "0"  # its decimal mark is not in the file
    return "" if value is None else str(value)


def _around(start: Rows, end: Rows) -> tuple[int, int]:
    """Guess the number of rows above the names and below the last record."""
    some = [row for row in start if any(map(_filled, row))]
    width = len(some[0]) if some else 0
    columns = [
        i for i in range(width) if sum(_filled(row[i]) for row in some) >= _OFTEN * len(some)
    ]
    if len(columns) < 2:
        return 0, 0
    above = next((i for i, row in enumerate(start) if all(_filled(row[j]) for j in columns)), 0)
    if not any(map(_filled, (cell for row in start[:above] for cell in row))):
        above = 0  # an empty area is no line
    texts = {j for j in columns if sum(isinstance(row[j], str) for row in some) > len(some) / 2}
    return above, _below(end, columns, texts)


def _below(rows: Rows, columns: Sequence[int], texts: set[int]) -> int:
    """Count the last rows that are empty or hold a single text."""
    # Of a table with two columns, the text must stand where records have none.
    last = _last(rows, len(rows))
    found = 0
    for number in range(1, last + 1):
        row = rows[last - number]
        cells = [j for j, value in enumerate(row) if _filled(value)]
        lonely = len(cells) == 1 and isinstance(row[cells[0]], str)
        if cells and not (lonely and (len(columns) > 2 or cells[0] not in texts)):
            return found
        if cells:
            found = number  # an empty row counts where a text stands above or below it
    return 0
