"""Rows around the table of an Excel sheet, hidden ones, and errors: seen, said, left out."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import xlsxwriter

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io import excel_reader
from rwn_core.io.excel_reader import seen_in_workbook
from rwn_core.io.parse import parse
from tests.read_here import said_of

Row = Sequence[Any]

NAMES = ["age", "wage", "place", "born", "note"]
RECORDS = [
    [20 + i, 1.5 + i / 7, ["Köln", "Ulm"][i % 2], datetime.date(1990, 1, 1 + i % 28), None]
    for i in range(40)
]
RECORDS[3][1] = RECORDS[9][2] = None
RECORDS[5][4] = "a word"
TABLE = [NAMES, *RECORDS]
TITLES: list[Row] = [["The office, table 7"], ["As of", 2024], []]


def workbook(
    rows: Sequence[Row], *, right: int = 0, down: int = 0, merged: tuple[int, ...] = ()
) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        page = book.add_worksheet("data")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for number, row in enumerate(rows, start=down):
            for position, value in enumerate(row, start=right):
                if isinstance(value, datetime.date):
                    page.write_datetime(number, position, value, day)
                elif value is not None:
                    page.write(number, position, value)
        for number in merged:
            page.merge_range(number, 0, number, 3, "a title")
    return stream.getvalue()


PLAIN = parse("t.xlsx", workbook(TABLE))


@pytest.mark.parametrize(
    ("above", "below", "right", "down"),
    [
        (TITLES[:1], [], 0, 0),
        (TITLES, [["Source: the office"]], 0, 0),
        (TITLES, [[], ["Source"], [], ["End"]], 2, 3),
    ],
)
def test_the_rows_are_seen_and_the_table_is_as_without_them(
    above: list[Row], below: list[Row], right: int, down: int
) -> None:
    content = workbook([*above, *TABLE, *below], right=right, down=down)
    seen = seen_in_workbook(content)
    # an empty row right below the records needs no mention
    lines = len(below) - (1 if below and not below[0] else 0)
    assert seen.layout == FileLayout(above=len(above) + down, below=lines)
    data = parse("t.xlsx", content, None, seen.layout)
    assert data.fingerprint == PLAIN.fingerprint
    assert data.schema.file == seen.layout
    again = parse("t.xlsx", content, Schema.from_toml(data.schema.to_toml()))
    assert again.fingerprint == PLAIN.fingerprint


def test_a_table_with_nothing_around_it_is_seen_as_such() -> None:
    gap = [[None, 1.5, None, None, None]]
    for content in (
        workbook(TABLE),
        workbook(TABLE, right=2, down=3),
        workbook([*TABLE, *gap]),
        workbook([["name", "pay"], ["a", 1], ["b", 2], ["c", None]]),
    ):
        assert seen_in_workbook(content).layout == FileLayout()
    assert seen_in_workbook(b"PK").sheets == ()


def test_a_title_over_several_columns_may_be_merged_and_a_record_may_not() -> None:
    content = workbook([[], [], *TABLE], merged=(0,))
    with pytest.raises(InputError, match="row 1: there is 1 merged area"):
        parse("t.xlsx", content)
    layout = seen_in_workbook(content).layout
    assert layout == FileLayout(above=2)
    assert parse("t.xlsx", content, None, layout).fingerprint == PLAIN.fingerprint
    content = workbook([[], [], *TABLE, []], merged=(0, 43))
    with pytest.raises(InputError, match="row 44: there is 1 merged area"):
        parse("t.xlsx", content, None, FileLayout(above=2))


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (FileLayout(), r"t\.xlsx, row 1: column 2 has no name; give it one"),
        (FileLayout(above=1), r"t\.xlsx, row 2, column 2: the name is a number"),
        (FileLayout(above=4, below=1), r"t\.xlsx, row 5, column 1: the name is a number"),
        (FileLayout(above=3), r"age .row 45: 1 cell holds no numbers"),
        (FileLayout(above=500), "no row between those above and below; leave out fewer"),
        (FileLayout(above=3, below=41), "no record follows the header line"),
        (FileLayout(above=3, below=900), "no row between those above and below"),
        (FileLayout(header=False), "a given header, which an Excel workbook does not have"),
    ],
)
def test_another_number_of_rows_is_refused_with_its_row(layout: FileLayout, words: str) -> None:
    content = workbook([*TITLES, *TABLE, ["Source: the office"]])
    said = said_of("t.xlsx", content, None, layout)
    assert re.search(words, said)
    assert "office" not in said


def with_marks(fill: Callable[[xlsxwriter.Workbook, Any], None]) -> bytes:
    """A workbook of 40 records on its second sheet, and what `fill` does to that sheet."""
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        book.add_worksheet("empty")
        sheet = book.add_worksheet("people")
        sheet.write_row(0, 0, ["age", "income", "sex"])
        for number in range(1, 41):
            sheet.write_row(number, 0, [20 + number, 1000.5 * number, "mf"[number % 2]])
        fill(book, sheet)
    return stream.getvalue()


def test_hidden_rows_columns_and_error_cells_are_said_with_their_places() -> None:
    """Finding T8."""

    def fill(book: xlsxwriter.Workbook, sheet: Any) -> None:
        for row in range(10, 20):
            sheet.set_row(row, None, None, {"hidden": True})
        sheet.set_column(1, 1, None, None, {"hidden": True})
        sheet.write_formula(3, 1, "=NA()", None, "#N/A")
        sheet.write_formula(7, 1, "=1/0", None, "#DIV/0!")

    data = parse("t.xlsx", with_marks(fill))
    assert data.n == 40
    assert "The sheet has 10 hidden rows, and they are read (row 11, 12, 13, ...)." in data.notices
    assert "The sheet has 1 hidden column, and it is read (column B)." in data.notices
    assert (
        "2 cells of the sheet hold an error such as #N/A, and no value (cell B4, B8)."
        in data.notices
    )


def test_a_sheet_of_blank_cells_alone_is_refused_before_it_is_unfolded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        sheet, bold = book.add_worksheet(), book.add_format({"bold": True})
        for row in range(3_000):
            for column in range(30):
                sheet.write_blank(row, column, None, bold)
    monkeypatch.setattr(excel_reader, "chosen_sheet", None)  # it would hold every cell
    with pytest.raises(InputError, match="no visible sheet with values"):
        parse("t.xlsx", stream.getvalue())
