"""Excel workbooks: cells, rows around a table, sheets of statistical offices."""

import datetime
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

import rwn_core as rwn
from rwn_cli import main
from rwn_core import InputError, ReleaseError, Schema
from rwn_core.data.file_layout import FileLayout
from rwn_core.io import excel_reader, excel_writer
from rwn_core.io.excel_reader import chosen_sheet, seen_in_workbook
from rwn_core.io.guessed_layout import GuessedLayout, guess_text_layout
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

pytestmark = pytest.mark.usefixtures("read_here")

DAY, MOMENT = datetime.datetime(2020, 2, 29), datetime.datetime(2020, 2, 29, 13, 14, 15)
CLOCK = datetime.time(1, 2)


def workbook(fill: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        fill(book)
    return stream.getvalue()


def sheet(
    *rows: Sequence[Any], first: int = 0, right: int = 0, merged: tuple[int, ...] = ()
) -> bytes:
    """A workbook of these rows; None for an empty cell."""

    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet()
        looks = {
            datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm"}),
        }
        for number, row in enumerate(rows, start=first):
            for position, value in enumerate(row, start=right):
                if value is not None:
                    page.write(number, position, value, *filter(None, [looks.get(type(value))]))
        for number in merged:
            page.merge_range(number, 0, number, 3, "a title")

    return workbook(fill)


def refusal(content: bytes, schema: Schema | None = None, layout: FileLayout | None = None) -> str:
    return said_of("t.xlsx", content, schema, layout)


CELLS = sheet(
    ["whole", "gap", "half", "day", "moment", "truth", "maybe", "text", "dot"],
    [1, 5, 1.5, DAY, DAY, True, True, "a", "1.5"],
    [8, None, 2, None, MOMENT, False, None, None, "x"],
    [0, 2**53 - 1, None, DAY, None, True, False, "b", "7"],
)


def test_the_cells_of_a_sheet_become_columns_of_their_types():
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


def test_cells_that_no_column_can_have_are_refused_with_their_rows(sentences):
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


def test_a_sheet_is_chosen_by_its_name_and_the_others_are_named():
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


def test_the_stored_results_of_formulas_are_read_and_macros_are_not():
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
    assert data.notices == ("code has numbers written as texts: it is categorical.",)
    assert data.frame["code"].tolist() == ["00501", "7"]


def test_what_a_sheet_cannot_hold_is_refused_before_it_is_written(monkeypatch):
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


def test_the_limits_of_a_sheet_are_still_written_and_come_back():
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

    def fill(book: xlsxwriter.Workbook) -> None:
        prose, table = book.add_worksheet("Read me"), book.add_worksheet("Data")
        for row in range(lines):
            prose.write(row, 0, f"Line {row} of what these figures mean")
        table.write(0, 0, "Survey of wages")
        for column, name in enumerate(("age", "wage")):
            table.write(2, column, name)
            for row in range(records):
                table.write(3 + row, column, row * (column + 1))
        table.write(3 + records, 0, "Source: the office")

    return workbook(fill)


@pytest.mark.parametrize("lines", [4, 90])
def test_the_sheet_with_most_rows_is_read_and_pictured(lines):
    content = _with_prose(lines, 40)
    seen = seen_in_workbook(content)
    assert seen.sheets == ("Data", "Read me")
    assert (seen.layout.above, seen.layout.below) == (2, 1)
    assert [number for number, _ in seen.rows] == [*range(12), *range(38, 44)]
    assert seen.rows[2][1] == ("age", "wage")
    assert seen.rows[-1][1][0] == "Source: the office"
    rows, *_, name, notices = chosen_sheet("any.xlsx", content, FileLayout(above=2, below=1))
    assert (name, len(rows)) == ("Data", 41)
    assert notices == ["The sheet Data is read; these are not: Read me."]
    assert GuessedLayout.from_dict(json.loads(json.dumps(seen.plain()))) == seen


NAMES = ["age", "wage", "place", "born", "note"]
RECORDS = [
    [20 + i, 1.5 + i / 7, ["Köln", "Ulm"][i % 2], datetime.date(1990, 1, 1 + i % 28), None]
    for i in range(40)
]
RECORDS[5][4] = "a word"
TABLE = [NAMES, *RECORDS]
TITLES: list[list[object]] = [["The office, table 7"], ["As of", 2024], []]


PLAIN = parse("t.xlsx", sheet(*TABLE))


@pytest.mark.parametrize(
    ("above", "below", "right", "down"),
    [
        (TITLES[:1], [], 0, 0),
        (TITLES, [["Source: the office"]], 0, 0),
        (TITLES, [[], ["Source"], [], ["End"]], 2, 3),
    ],
)
def test_the_rows_are_seen_and_the_table_is_as_without_them(above, below, right, down):
    content = sheet(*above, *TABLE, *below, right=right, first=down)
    seen = seen_in_workbook(content)
    # an empty row right below the records needs no mention
    lines = len(below) - (1 if below and not below[0] else 0)
    assert seen.layout == FileLayout(above=len(above) + down, below=lines)
    data = parse("t.xlsx", content, None, seen.layout)
    assert data.fingerprint == PLAIN.fingerprint
    assert data.schema.file == seen.layout
    again = parse("t.xlsx", content, Schema.from_toml(data.schema.to_toml()))
    assert again.fingerprint == PLAIN.fingerprint


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (FileLayout(), r"t\.xlsx, row 1: column 2 has no name; give it one"),
        (FileLayout(above=1), r"t\.xlsx, row 2, column 2: the name is a number"),
        (FileLayout(above=4, below=1), r"t\.xlsx, row 5, column 1: the name is a number"),
        (FileLayout(above=3), r"age .row 45: 1 cell holds no numbers"),
        (FileLayout(above=45), "no row between those above and below; leave out fewer"),
        (FileLayout(above=3, below=41), "no record follows the header line"),
        (FileLayout(above=3, below=900), "no row between those above and below"),
        (FileLayout(header=False), "a given header, which an Excel workbook does not have"),
    ],
)
def test_another_number_of_rows_is_refused_with_its_row(layout, words):
    content = sheet(*TITLES, *TABLE, ["Source: the office"])
    said = said_of("t.xlsx", content, None, layout)
    assert re.search(words, said)
    assert "office" not in said


def test_hidden_rows_columns_and_error_cells_are_said_with_their_places():
    """Finding T8."""

    def fill(book: xlsxwriter.Workbook) -> None:
        book.add_worksheet("empty")
        sheet = book.add_worksheet("people")
        sheet.write_row(0, 0, ["age", "income", "sex"])
        for number in range(1, 41):
            sheet.write_row(number, 0, [20 + number, 1000.5 * number, "mf"[number % 2]])
        for row in range(10, 20):
            sheet.set_row(row, None, None, {"hidden": True})
        sheet.set_column(1, 1, None, None, {"hidden": True})
        sheet.write_formula(3, 1, "=NA()", None, "#N/A")
        sheet.write_formula(7, 1, "=1/0", None, "#DIV/0!")

    data = parse("t.xlsx", workbook(fill))
    assert data.n == 40
    assert "The sheet has 10 hidden rows, and they are read (row 11, 12, 13, ...)." in data.notices
    assert "The sheet has 1 hidden column, and it is read (column B)." in data.notices
    assert (
        "2 cells of the sheet hold an error such as #N/A, and no value (cell B4, B8)."
        in data.notices
    )


def test_a_sheet_of_blank_cells_alone_is_refused_before_it_is_unfolded(monkeypatch):
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True})
        for row in range(3_000):
            for column in range(30):
                sheet.write_blank(row, column, None, bold)

    monkeypatch.setattr(excel_reader, "chosen_sheet", None)  # it would hold every cell
    with pytest.raises(InputError, match="no visible sheet with values"):
        parse("t.xlsx", workbook(fill))


ZIPS = [1067, 4109, 10115, 99423, 501, 80331] * 5


def formatted(number_format: str, numbers: Sequence[float] = ZIPS, right: int = 0) -> bytes:
    """A sheet with a column of numbers in this format, and one of ages."""

    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet()
        look = book.add_format({"num_format": number_format})
        page.write_row(0, right, ["code", "age"])
        for row, number in enumerate(numbers, 1):
            page.write_number(row, right, number, look)
            page.write_number(row, right + 1, 20 + row)

    return workbook(fill)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("00000", ["01067", "04109", "10115"]),
        ("000-00-0000", ["000-00-1067", "000-00-4109", "000-01-0115"]),
        (r"00\ 00", ["10 67", "41 09", "101 15"]),
        ('"A-"00000', ["A-01067", "A-04109", "A-10115"]),
        ("[$-407]00000;-00000", ["01067", "04109", "10115"]),
        (r"00000_)", ["01067", "04109", "10115"]),
    ],
)
@pytest.mark.parametrize("right", [0, 3])
def test_numbers_that_a_format_shows_as_codes_are_categories(written, shown, right):
    data = parse("t.xlsx", formatted(written, right=right))
    assert data.frame["code"].tolist()[:3] == shown
    assert data.schema.variable("code").kind is rwn.Kind.CATEGORICAL
    assert data.frame["age"].tolist()[:2] == [21, 22]
    assert any("by the format of its cells" in notice for notice in data.notices)


@pytest.mark.parametrize(
    "written", ["0", "0.00", "#,##0", "0%", "General", "0.00E+00", '0.0" kg"', r"#\ ##0", "0000"]
)
def test_numbers_that_a_format_shows_as_quantities_stay_numbers(written):
    data = parse("t.xlsx", formatted(written, [1067, 4109, 1115, 9942, 5010, 8033]))
    assert data.frame["code"].tolist() == [1067, 4109, 1115, 9942, 5010, 8033]
    assert not any("format of its cells" in notice for notice in data.notices)


def test_decimals_and_negative_numbers_are_no_codes_and_a_schema_decides():
    for odd in (-3.0, 1.5):
        assert parse("t.xlsx", formatted("00000", [*ZIPS, odd])).frame["code"].iloc[-1] == odd
    data = parse("t.xlsx", formatted("00000"))
    counted = data.schema.replace_variable("code", kind=rwn.Kind.COUNT)
    assert parse("t.xlsx", formatted("00000"), counted).frame["code"].tolist() == ZIPS


def test_a_release_with_codes_passes_its_second_reading(tmp_path):
    source, target = tmp_path / "t.xlsx", tmp_path / "out.csv"
    source.write_bytes(formatted("000-00-0000", [1_067 + 37 * i % 50 for i in range(60)]))
    options = ["--k", "9", "--keep", "code", "--keep", "age"]
    assert main.run(["mask", str(source), str(target), *options]) == 0
    assert set(rwn.read(target).frame["code"]) <= set(rwn.read(source).frame["code"])


def test_years_and_dates_above_other_values_are_names():
    rows = [[f"r{i}", i * 3.5, i * 4.5, i * 5.5] for i in range(1, 20)]
    data = parse("t.xlsx", sheet(["region", 2019, 2020, 2021], *rows))
    assert data.names == ("region", "2019", "2020", "2021")
    day = datetime.datetime(2020, 1, 31)
    data = parse("t.xlsx", sheet(["region", day], *([f"r{i}", i] for i in range(9))))
    assert data.names[1].startswith("2020-01-31")


@pytest.mark.parametrize(
    "rows",
    [
        [["Ulm", 1987, 2005], ["Bonn", 1990, 2011], ["Kiel", 1956, 1999]],
        [["Ulm", 2000], ["Bonn", 1500], ["Kiel", 3000]],
        [["Ulm", 34], ["Bonn", 21], ["Kiel", 19]],
    ],
)
def test_a_first_record_is_still_no_line_of_names(rows):
    with pytest.raises(InputError, match="the name is a number or a date"):
        parse("t.xlsx", sheet(*rows))


def under(header: dict[str, Any], rows: int, width: int) -> bytes:
    """A workbook with these headings, each in its cells, above records."""

    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet()
        for place, text in header.items():
            (page.merge_range if ":" in place else page.write)(place, text)
        for row in range(rows, rows + 30):
            page.write_row(row, 0, ["ab"[row % 2], *(row * (2 + j) / 4 for j in range(1, width))])

    return workbook(fill)


SEXES = ["Region", "Income men", "Income women", "Age"]
BOTH = ["Region", "Income men", "Income women", "Wealth men", "Wealth women"]
YEARS = ["Region", "Income 2019", "Income 2020", "Wealth 2019", "Wealth 2020"]
HEADINGS: dict[str, tuple[dict[str, Any], int, list[str], int]] = {
    "over two columns": (
        {"A1": "Region", "B1:C1": "Income", "D1": "Age", "B2": "men", "C2": "women"},
        2,
        SEXES,
        0,
    ),
    "with a title": (
        {"A1": "Table 7: what the office found", "A3:A4": "Region", "B3:C3": "Income"}
        | {"D3:D4": "Age", "B4": "men", "C4": "women"},
        4,
        SEXES,
        2,
    ),
    "not merged": (
        {"B1": "Income", "D1": "Wealth", "A2": "Region", "B2": "men", "C2": "women"}
        | {"D2": "men", "E2": "women"},
        2,
        BOTH,
        0,
    ),
    "years": (
        {"B1:C1": "Income", "D1:E1": "Wealth", "A2": "Region"}
        | {"B2": 2019, "C2": 2020, "D2": 2019, "E2": 2020},
        2,
        YEARS,
        0,
    ),
    "units": (
        {"A1": "Region", "B1": "Income", "C1": "Age", "A2": "", "B2": "EUR", "C2": "years"},
        2,
        ["Region", "Income EUR", "Age years"],
        0,
    ),
}


@pytest.mark.parametrize("case", HEADINGS)
def test_names_in_several_rows_are_joined(case):
    header, rows, names, above = HEADINGS[case]
    content = under(header, rows, len(names))
    layout = seen_in_workbook(content).layout
    assert (layout.header, layout.above, layout.fill) == (2, above, False)
    data = parse("t.xlsx", content, None, layout)
    assert (list(data.names), data.n) == (names, 30)
    assert data.schema.file is not None
    again = parse("t.xlsx", content, rwn.Schema.from_toml(data.schema.to_toml()))
    assert again.fingerprint == data.fingerprint
    word = sheet(["region", "n"], ["r1", "few"], *([f"r{i}", i] for i in range(2, 30)))
    seen = seen_in_workbook(word)  # in the only column of numbers it is no unit
    assert seen is None or seen.layout == FileLayout()


def test_a_text_may_have_names_in_several_lines(tmp_path):
    lines = ["region,income,,age", ",men,women,", *(f"r{i % 3},{i},{2 * i},{i}" for i in range(9))]
    layout = FileLayout(header=2)
    data = parse("t.csv", "\n".join(lines).encode(), None, layout)
    assert data.names == ("region", "income men", "income women", "age")
    assert (data.n, data.frame["age"].tolist()) == (9, [*range(9)])
    source, target = tmp_path / "t.csv", tmp_path / "o.csv"
    source.write_text("\n".join(lines))
    options = ["--file", "header=2", "--k", "3", *(w for n in data.names for w in ("--keep", n))]
    assert main.run(["mask", str(source), str(target), *options]) == 0


# ---------------------------------------------------------------- rows at the end

BODY = [[f"r{i}", i + 3, i * 100.5] for i in range(1, 21)]
NAMES_OFFICES = ["region", "n", "income"]
SUMS = [sum(row[1] for row in BODY), sum(row[2] for row in BODY)]
ENDS: dict[str, list[list[object]]] = {
    "total": [["Total", *SUMS]],
    "gesamt": [["Insgesamt", *SUMS]],
    "sums": [["Germany", *SUMS]],
    "source": [["Source: the office", None, None]],
    "note and sum": [["Summe:", *SUMS], [None] * 3, ["Anmerkung: ohne Hamburg", None, None]],
    "mean": [["Total", *SUMS], ["Mean", 13.5, 1055.25]],
    "stars": [["* estimated", None, None], ["Quelle", "office", None]],
}


def written(rows: list[list[object]], kind: str) -> tuple[bytes, GuessedLayout | None]:
    if kind == "xlsx":
        content = sheet(*rows)
        return content, seen_in_workbook(content)
    mark = ";" if kind == "semicolons" else ","
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if kind == "semicolons":
        cells = [[cell.replace(".", ",") for cell in row] for row in cells]
    text = "\n".join(mark.join(row) if any(row) else "" for row in cells).encode()
    return text, guess_text_layout(text, ",")


@pytest.mark.parametrize("kind", ["xlsx", "csv", "semicolons"])
@pytest.mark.parametrize("case", ENDS)
def test_totals_and_sources_are_seen_and_left_out_on_request(case, kind):
    rows = [NAMES_OFFICES, *BODY, *ENDS[case]]
    content, seen = written(rows, kind)
    data = parse("t.xlsx" if kind == "xlsx" else "t.csv", content, None, seen.layout)
    assert data.n == len(BODY)
    assert data.frame["n"].tolist() == [row[1] for row in BODY]
    assert data.frame["income"].tolist() == [row[2] for row in BODY]


LEGEND: list[list[object]] = [[None] * 3, ["Legend", None, None], ["1", "yes", None], [2, "no"]]


@pytest.mark.parametrize("total", [[], ENDS["total"]])
def test_a_legend_below_an_empty_row_is_no_record_and_full_rows_are(total):
    content, seen = written([NAMES_OFFICES, *BODY, *total, *LEGEND], "xlsx")
    # an empty row right below the records needs no mention
    assert seen.layout.below == len(total) + len(LEGEND) - (not total)
    assert [number for number, _ in seen.rows][-1] == len(BODY) + len(total) + len(LEGEND)
    assert parse("t.xlsx", content, None, seen.layout).n == len(BODY)
    # planted: below the gap stand records
    _, seen = written([NAMES_OFFICES, *BODY, [None] * 3, *BODY[:3]], "xlsx")
    assert seen.layout.below == 0


def test_a_last_record_with_one_field_more_is_no_foot():
    rows = [f"{n},{n * n % 17},{'abc'[n % 3]}" for n in range(30)]
    text = "\n".join(["a,b,c", *rows, "1,2,x,4"])
    assert guess_text_layout(text.encode(), ",").layout.below == 0
    note = "\n".join(["a,b,c", *rows, "Source: 1, 2, 3, 4"])
    assert guess_text_layout(note.encode(), ",").layout.below == 1


def test_the_lines_at_the_end_of_a_text_are_seen_with_their_numbers():
    _, seen = written([NAMES_OFFICES, *BODY, *ENDS["note and sum"]], "csv")
    assert seen.layout.below == 2
    assert [(number, cells[0]) for number, cells in seen.rows] == [
        (21, "Summe:"),
        (23, "Anmerkung: ohne Hamburg"),
    ]
    long = "a,b\n" + "12345,67890\n" * 30_000 + "\nSource: x\n"
    assert guess_text_layout(long.encode(), ",").rows == ((30_002, ("Source: x",)),)


def test_rows_at_the_end_are_said_in_python_and_the_shell_and_left_out_by_their_option(
    tmp_path, capsys
):
    path = tmp_path / "t.csv"
    path.write_bytes(written([NAMES_OFFICES, *BODY, *ENDS["total"], *ENDS["source"]], "csv")[0])
    said = "The last 2 rows seem to be no records (a total, a note or a source): leave them out by "
    data = rwn.read(path)
    assert data.n == len(BODY) + 2
    assert any(notice.startswith(said) for notice in data.notices)
    assert main.run(["describe", str(path)]) == 0
    assert f"note: {said}below = 2 in the layout" in capsys.readouterr().err
    assert main.run(["describe", str(path), "--file", "below=2"]) == 0
    assert "The last" not in capsys.readouterr().err
    for layout, count in ((FileLayout(below=2), 20), (FileLayout(), 22)):
        stated = rwn.read(path, layout=layout)
        assert stated.n == count
        assert not any("The last" in notice for notice in stated.notices)


def ordinary() -> list[list[list[object]]]:
    """Tables without such rows: real ones and their parts, and traps."""
    tables: list[list[list[object]]] = []
    rng = np.random.default_rng(1)
    for name in rwn.DEMOS:
        frame = rwn.load_demo(name).frame
        for count in (500, 12):
            part = frame.head(count)
            cells = part.astype(object).where(part.notna(), None)
            tables.append([list(part.columns), *cells.to_numpy().tolist()])
    words = ["low", "high", "total"]
    for seed in range(12):
        n = 6 + 3 * seed
        numbers = pd.DataFrame(rng.integers(0, 3, (n, 3)), columns=["a", "b", "c"])
        tables.append([["g", *numbers], *([words[i % 3], *row] for i, row in
                                          enumerate(numbers.to_numpy().tolist()))])  # fmt: skip
    for last in (["Sumner", 4, 2.5], ["Totalis", None, None], ["Note", 1, 2.5], ["c", None, 3.0],
                 ["Mr. Stand", None, 1.0], [None, 4, None], ["Somme-Leuze", 3, None]):  # fmt: skip
        tables.append([NAMES_OFFICES, *BODY, last])
    tables.append([["name", "pay"], *([f"p{i}", i] for i in range(9)), ["q", None]])
    tables.append([["x"], *([i] for i in range(1, 9)), [3]])
    tables.append([["x", "y"], *([0, 0] for _ in range(12)), [1, 1]])
    tables.append([["x", "y"], [1, 2], [1, 2], [2, 4]])
    pairs = (([f"r{i}", "a", i], [f"r{i}", "Total", i]) for i in range(9))
    tables.append([["region", "part", "n"], *(row for pair in pairs for row in pair)])
    tables.append([["t", "cumulated"], *([i, i * (i + 1) // 2] for i in range(12))])
    return tables


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_no_ordinary_table_loses_a_row(kind):
    for number, rows in enumerate(ordinary()):
        _, seen = written(rows, kind)
        assert seen is None or not seen.layout.below, number


COUNT = 24
SEEN = FileLayout(above=4, below=1, decimal=",", dates="DD.MM.YYYY", missing=("k.A.",), fill=True)
TRUE = pd.DataFrame(
    {
        "ward": ["north"] * 8 + ["south"] * 8 + ["east"] * 8,
        "age": [30 + i for i in range(COUNT)],
        "wage": [400.5 + i / 4 for i in range(COUNT)],
        "born": pd.to_datetime([datetime.date(1980, 1 + i % 12, 1 + i) for i in range(COUNT)]),
        "score": [None if i in (3, 9) else 2 * i for i in range(COUNT)],
    }
).astype({"score": "Int64", "born": "datetime64[s]"})


def ugly(*, note: str = "Source: the office", open_row: int | None = None) -> bytes:
    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet("Blatt 1")
        page.merge_range(0, 0, 0, 4, "The office, table 7")
        page.write(1, 0, "Stand 2024")
        page.write_row(4, 0, list(TRUE.columns))
        for i, row in enumerate(TRUE.itertuples(index=False), start=5):
            page.write(i, 1, row.age)
            page.write(i, 2, f"{row.wage:.2f}".replace(".", ","))
            page.write(i, 3, f"{row.born:%d.%m.%Y}")
            page.write(i, 4, "k.A." if pd.isna(row.score) else int(row.score))
        for block, ward in enumerate(("north", "south", "east")):
            page.merge_range(5 + 8 * block, 0, 12 + 8 * block, 0, ward)
        page.write(5 + COUNT, 0, note)
        if open_row is not None:
            page.write_formula(open_row, 1, "=SUM(B6:B29)", None, "")

    return workbook(fill)


def test_it_is_seen_as_it_is_and_read_as_the_plain_table():
    content = ugly()
    assert seen_in_workbook(content).layout == SEEN
    data = parse("t.xlsx", content, None, SEEN)
    pd.testing.assert_frame_equal(data.frame, TRUE, check_dtype=False)
    assert data.schema.file == SEEN
    assert "Of merged cells, 21 cells have the value of their area." in data.notices
    again = parse("t.xlsx", content, data.schema)
    assert again.fingerprint == data.fingerprint
    written = parse("r.xlsx", table_bytes(data.frame, "excel", data.schema))  # a plain sheet
    pd.testing.assert_frame_equal(written.frame, TRUE, check_dtype=False)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ({"fill": False}, "row 6: there are 3 merged areas of cells; have every cell"),
        ({"missing": ()}, "score .rows 9, 15: 2 values are not numbers"),
        ({"below": 0, "decimal": "."}, "score .rows 9, 15: 2 cells hold no numbers"),
    ],
)
def test_what_is_not_said_is_refused_with_its_rows(missing, words):
    given = {**SEEN.changed(), **missing}
    if "decimal" in missing:
        given |= {"missing": (), "dates": "YYYY-MM-DD"}
    said = said_of("t.xlsx", ugly(), None, FileLayout.from_dict(given))
    assert re.search(words, said)
    assert "k.A." not in said


def test_a_formula_without_a_result_matters_inside_the_table_only():
    below = ugly(open_row=5 + COUNT)
    assert parse("t.xlsx", below, None, SEEN).n == COUNT
    with pytest.raises(InputError, match="row 30: 1 cell is a formula"):  # it may be a record
        parse("t.xlsx", below, None, replace(SEEN, below=0))
    with pytest.raises(InputError, match=r"t\.xlsx, row 8: 1 cell is a formula without a stored"):
        parse("t.xlsx", ugly(open_row=7), None, SEEN)
