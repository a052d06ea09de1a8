"""What the cells of a sheet become, what is refused with its rows, and what a sheet cannot hold."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from collections.abc import Callable

import pandas as pd
import pytest
import xlsxwriter

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.errors import ReleaseError
from rwn_core.io import excel_writer
from rwn_core.io.excel_reader import chosen_sheet, seen_in_workbook
from rwn_core.io.guessed_layout import GuessedLayout
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

DAY, MOMENT = datetime.datetime(2020, 2, 29), datetime.datetime(2020, 2, 29, 13, 14, 15)
CLOCK = datetime.time(1, 2)


def workbook(fill: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        fill(book)
    return stream.getvalue()


def sheet(*rows: list[object], first: int = 0) -> bytes:
    """A workbook of these rows; None for an empty cell."""

    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet()
        looks = {
            datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
            datetime.time: book.add_format({"num_format": "hh:mm"}),
        }
        for number, row in enumerate(rows, start=first):
            for position, value in enumerate(row):
                if value is not None:
                    page.write(number, position, value, *filter(None, [looks.get(type(value))]))

    return workbook(fill)


def refusal(content: bytes, schema: Schema | None = None, layout: FileLayout | None = None) -> str:
    return said_of("t.xlsx", content, schema, layout)


CELLS = sheet(
    ["whole", "gap", "half", "day", "moment", "truth", "maybe", "text", "dot"],
    [1, 5, 1.5, DAY, DAY, True, True, "a", "1.5"],
    [8, None, 2, None, MOMENT, False, None, None, "x"],
    [0, 2**53 - 1, None, DAY, None, True, False, "b", "7"],
)


def test_the_cells_of_a_sheet_become_columns_of_their_types() -> None:
    data = parse("t.xlsx", CELLS)
    expected = pd.DataFrame(
        {
            "whole": [1, 8, 0],
            "gap": pd.array([5, None, 2**53 - 1], "Int64"),
            "half": [1.5, 2.0, None],
            "day": pd.Series([DAY, None, DAY]).astype("datetime64[s]"),
            "moment": pd.Series([DAY, MOMENT, None]).astype("datetime64[us]"),
            "truth": [True, False, True],
            "maybe": pd.array([True, None, False], "boolean"),
            "text": pd.array(["a", None, "b"], "str"),
            "dot": pd.array(["1.5", "x", "7"], "str"),
        }
    )
    pd.testing.assert_frame_equal(data.frame, expected)
    assert data.notices == (
        "Missing values: gap has 1, half has 1, day has 1, moment has 1, maybe has 1, text has 1.",
    )


REFUSED: dict[str, tuple[list[object], ...]] = {
    "mixed": (["x", "y"], [1, 1], ["u", 2], ["v", 3], [2, 4], [3, 5], ["w", 6], [4, 7], ["z", 8],
              [5]),
    "two odd": (["x"], ["u"], ["v"], ["w"], [1], [2]),
    "three odd": (["x"], [1], [2], [3], [4], ["u"], ["v"], ["w"]),
    "clock": (["x"], [1], [CLOCK], [2]),
    "beyond": (["x"], [1], [None], [-1e200]),
    "rounded": (["x"], [1], [2.0**53], [-(2.0**60)]),
    "number as name": (["x", 3], [1, 2], [3, 4]),
    "no record": (["x", "y"],),
    "same names": (["x", "x"], [1, 2], [3, 4]),
    "no values": (),
}  # fmt: skip


def test_cells_that_no_column_can_have_are_refused_with_their_rows(
    sentences: Callable[..., None],
) -> None:
    found = {name: [refusal(sheet(*rows))] for name, rows in REFUSED.items()}
    found["lower on the sheet"] = [
        refusal(sheet(["x"], [1], ["u"], [2], first=3)),
        refusal(sheet([1], [2], first=3)),
    ]
    sentences("sheet", found)


def sheets(book: xlsxwriter.Workbook) -> None:
    book.add_worksheet("blank")
    for name, first in (("one", 1), ("two", 5), ("hidden", 9)):
        page = book.add_worksheet(name)
        page.write_column(0, 0, ["x", first, first + 2])
        if name == "hidden":
            page.hide()


def test_a_sheet_is_chosen_by_its_name_and_the_others_are_named() -> None:
    content = workbook(sheets)
    data = parse("t.xlsx", content, None, FileLayout(sheet="two"))
    assert data.frame["x"].tolist() == [5, 7]
    assert data.notices == (
        "The sheet two is read; these are not: one.",
        "Hidden sheets are not read: hidden.",
    )
    assert parse("t.xlsx", content).frame["x"].tolist() == [1, 3]
    for name in ("hidden", "blank", "three"):
        assert refusal(content, None, FileLayout(sheet=name)) == (
            "t.xlsx has no visible sheet of that name with values; it has: one, two."
        )
    seen = seen_in_workbook(content)
    assert (seen.sheets, seen.layout) == (("one", "two"), FileLayout())
    assert seen_in_workbook(b"PK\x03\x04xl/").sheets == ()


def test_formulas_and_macros_are_named_and_left_out() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet()
        page.write_column(0, 0, ["x", 1, 2])
        for row, text in enumerate(("code", "00501", "7")):
            page.write_string(row, 1, text)
        page.write_formula(1, 0, "=1+2", None, 3)
        page.write_formula(2, 0, "=2+2", None, 4)

    stream = io.BytesIO(workbook(fill))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"macro")
    data = parse("t.xlsx", stream.getvalue())
    assert data.frame["x"].tolist() == [3, 4]
    assert data.notices == (
        "The file has 2 formulas: their stored results are read, and a release holds values only.",
        "The file has macros: they are neither run nor kept.",
        "code has numbers written as texts: it is categorical.",
    )
    assert data.frame["code"].tolist() == ["00501", "7"]


def test_what_a_sheet_cannot_hold_is_refused_before_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(**columns: object) -> str:
        with pytest.raises(ReleaseError) as caught:
            table_bytes(pd.DataFrame(columns), "excel")
        return str(caught.value)

    other = "; choose another format."
    early = f"Column d has dates before March 1900, which Excel does not have{other}"
    assert refused(d=pd.to_datetime(["2020-01-01", "1900-02-28"])) == early
    huge = f"Column n has whole numbers of 2^53 or more, which Excel would change{other}"
    assert refused(n=[1, 2**53]) == refused(n=[-(2**53), 1]) == huge
    long = f"Column t has texts of more than 32,767 letters, which Excel cuts{other}"
    assert refused(t=["a", "b" * 32_768]) == long
    assert refused(t=pd.Categorical(["a", "b" * 32_768])) == long
    assert refused(x=[1.5, None], t=["a", None]) == (
        f"The last record has no values, and Excel would lose it{other}"
    )
    monkeypatch.setattr(excel_writer, "_ROWS", 3)
    monkeypatch.setattr(excel_writer, "_COLUMNS", 2)
    full = f"An Excel sheet holds 2 records of 2 columns{other}"
    assert refused(x=[1, 2, 3]) == refused(x=[1, 2], y=[1, 2], z=[1, 2]) == full


def test_the_limits_of_a_sheet_are_still_written_and_come_back() -> None:
    frame = pd.DataFrame(
        {
            "d": pd.Series(pd.to_datetime(["1900-03-01", "9999-12-31"])).astype("datetime64[s]"),
            "m": pd.to_datetime(["2020-01-02 03:04:05", "2020-01-02 00:00:00"]),
            "n": pd.array([2**53 - 1, None], "Int64"),
            "x": [0.1 + 0.2, 1e-300],
            "t": pd.array(["=1+1", "b" * 32_767], "str"),
            "truth": [True, False],
        }
    )
    content = table_bytes(frame, "excel")
    for levels in (frame, frame.astype({"truth": "category", "x": "category", "t": "category"})):
        assert table_bytes(levels, "excel") == content, "levels are written as what they are"
    again = parse("t.xlsx", content).frame
    pd.testing.assert_frame_equal(again, frame.astype({"m": "datetime64[us]"}))


def _with_prose(lines: int, records: int) -> bytes:
    """A workbook whose first sheet is prose and whose second has a table between lines."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        prose, table = book.add_worksheet("Read me"), book.add_worksheet("Data")
        for row in range(lines):
            prose.write(row, 0, f"Line {row} of what these figures mean")
        table.write(0, 0, "Survey of wages")
        for column, name in enumerate(("age", "wage")):
            table.write(2, column, name)
            for row in range(records):
                table.write(3 + row, column, row * (column + 1))
        table.write(3 + records, 0, "Source: the office")
    return file.getvalue()


@pytest.mark.parametrize("lines", [4, 90])
def test_the_sheet_with_most_rows_is_read_and_pictured(lines: int) -> None:
    content = _with_prose(lines, 40)
    seen = seen_in_workbook(content)
    assert seen.sheets == ("Data", "Read me")
    assert (seen.layout.above, seen.layout.below) == (2, 1)
    assert [number for number, _ in seen.rows] == [*range(12), *range(38, 44)]
    assert seen.rows[2][1] == ("age", "wage")
    assert seen.rows[-1][1][0] == "Source: the office"
    sheet = chosen_sheet("any.xlsx", content, FileLayout(above=2, below=1))
    assert (sheet.name, len(sheet.rows)) == ("Data", 41)
    assert sheet.notices == ["The sheet Data is read; these are not: Read me."]
    assert GuessedLayout.from_dict(json.loads(json.dumps(seen.plain()))) == seen
