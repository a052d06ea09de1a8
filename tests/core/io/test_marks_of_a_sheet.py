"""Hidden rows and columns, and cells with an error, are said with their places; never a value."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import xlsxwriter

from rwn_core.errors import InputError
from rwn_core.io import excel_reader
from rwn_core.io.parse import parse


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


def test_nothing_is_said_of_a_plain_sheet_and_of_marks_on_another() -> None:
    def fill(book: xlsxwriter.Workbook, sheet: Any) -> None:
        other = book.add_worksheet("notes")
        other.write_row(0, 0, ["a", "b"])
        other.set_row(0, None, None, {"hidden": True})

    words = " ".join(parse("t.xlsx", with_marks(fill)).notices)
    assert "hidden" not in words
    assert "error" not in words


def test_one_hidden_row_and_one_error_are_said_in_the_singular() -> None:
    def fill(book: xlsxwriter.Workbook, sheet: Any) -> None:
        sheet.set_row(4, None, None, {"hidden": True})
        sheet.write_formula(9, 0, "=1/0", None, "#DIV/0!")

    notices = parse("t.xlsx", with_marks(fill)).notices
    assert "The sheet has 1 hidden row, and it is read (row 5)." in notices
    assert "1 cell of the sheet holds an error such as #N/A, and no value (cell A10)." in notices


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
