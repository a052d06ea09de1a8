"""Which rows of a workbook are the table: its sheet, without the rows above and below it."""

from __future__ import annotations

import datetime
import io
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import python_calamine

from rwn_core.data.file_layout import MOST_LINES, FileLayout
from rwn_core.errors import InputError
from rwn_core.io.excel_container import check_workbook
from rwn_core.io.guessed_layout import (
    GuessedLayout,
    guessed_dates,
    guessed_decimal,
    guessed_missing,
)
from rwn_core.io.limits import MOST_CELLS

Rows = list[list[Any]]

_VISIBLE = python_calamine.SheetVisibleEnum.Visible
_START, _END = 200, 20  # rows that are looked at
_OFTEN = 0.5  # of the first rows in which a column of the table has a value


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet's table.

    Attributes
    ----------
    rows : list of list
        With that of the names; as the library gives the cells, an empty one as an empty text.
    first : int
        The number of the row with the names in the sheet, from 1.
    notices : list of str
    name : str
    """

    rows: Rows
    first: int
    notices: list[str]
    name: str


def chosen_sheet(file: str, content: bytes, layout: FileLayout) -> Sheet:
    """Find the table of a workbook."""
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        seen = [sheet for sheet in book.sheets_metadata if sheet.visible == _VISIBLE]
        tables = [(each.name, book.get_sheet_by_name(each.name)) for each in seen]
        filled = [(name, sheet) for name, sheet in tables if sheet.start is not None]
        hidden = [each.name for each in book.sheets_metadata if each.visible != _VISIBLE]
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
    notices = _notices(name, [other for other, _ in filled if other != name], hidden)
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
    for name, sheet in filled:
        if wanted in (None, name):
            return name, sheet
    raise InputError(
        f"{file} has no visible sheet of that name with values; it has: "
        f"{', '.join(name for name, _ in filled)}."
    )


def _notices(name: str, others: Sequence[str], hidden: Sequence[str]) -> list[str]:
    notices = []
    if others:
        notices.append(f"The sheet {name} is read; these are not: {', '.join(others)}.")
    if hidden:
        notices.append(f"Hidden sheets are not read: {', '.join(hidden)}.")
    return notices


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
    kept = rows[first:end]
    used = [i for i in range(len(kept[0])) if any(_filled(row[i]) for row in kept)]
    return [row[used[0] : used[-1] + 1] for row in kept], start + first


def _last(rows: Sequence[Sequence[Any]], end: int) -> int:
    """Return the number of rows without the empty ones at the end."""
    while end and not any(map(_filled, rows[end - 1])):
        end -= 1
    return end


def _filled(value: object) -> bool:
    return value is not None and value != ""


def seen_in_workbook(content: bytes) -> GuessedLayout:
    """List the sheets that may be read, and look for rows around the table of the first one."""
    try:
        check_workbook("", content)  # a refused sheet may take any memory
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        visible = [each.name for each in book.sheets_metadata if each.visible == _VISIBLE]
        sheets = [(name, book.get_sheet_by_name(name)) for name in visible]
        filled = [(name, sheet) for name, sheet in sheets if sheet.start is not None]
        if not filled:
            return GuessedLayout(layout=FileLayout())
        sheet = filled[0][1]
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
    return GuessedLayout(
        layout=FileLayout(
            above=min(above, MOST_LINES),
            below=below,
            decimal=guessed_decimal(texts, ";"),
            dates=guessed_dates(texts),
            missing=guessed_missing(texts),
            fill=any(above < area[0][0] < last and area[1][0] > area[0][0] for area in merged),
        ),
        sheets=tuple(name for name, _ in filled),
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
