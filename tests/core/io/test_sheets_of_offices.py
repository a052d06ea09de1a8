"""Sheets as offices write them: codes by number formats, years and headings as names, totals."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

import rwn_core as rwn
from rwn_cli import main
from rwn_core.data.file_layout import FileLayout
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.excel_reader import seen_in_workbook
from rwn_core.io.guessed_layout import GuessedLayout, guess_text_layout
from rwn_core.io.parse import parse
from tests.core.io.test_excel_sheets import sheet

ZIPS = [1067, 4109, 10115, 99423, 501, 80331] * 5


def workbook(fill: Callable[[Any, Any], None]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        fill(book, book.add_worksheet("data"))
    return stream.getvalue()


def formatted(number_format: str, numbers: Sequence[float] = ZIPS, right: int = 0) -> bytes:
    """A sheet with a column of numbers in this format, and one of ages."""

    def fill(book: Any, page: Any) -> None:
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
def test_numbers_that_a_format_shows_as_codes_are_categories(
    written: str, shown: list[str], right: int
) -> None:
    data = parse("t.xlsx", formatted(written, right=right))
    assert data.frame["code"].tolist()[:3] == shown
    assert data.schema.variable("code").kind is rwn.Kind.CATEGORICAL
    assert data.frame["age"].tolist()[:2] == [21, 22]
    assert any("by the format of its cells" in notice for notice in data.notices)


@pytest.mark.parametrize(
    "written", ["0", "0.00", "#,##0", "0%", "General", "0.00E+00", '0.0" kg"', r"#\ ##0", "0000"]
)
def test_numbers_that_a_format_shows_as_quantities_stay_numbers(written: str) -> None:
    data = parse("t.xlsx", formatted(written, [1067, 4109, 1115, 9942, 5010, 8033]))
    assert data.frame["code"].tolist() == [1067, 4109, 1115, 9942, 5010, 8033]
    assert not any("format of its cells" in notice for notice in data.notices)


def test_decimals_and_negative_numbers_are_no_codes_and_a_schema_decides() -> None:
    for odd in (-3.0, 1.5):
        assert parse("t.xlsx", formatted("00000", [*ZIPS, odd])).frame["code"].iloc[-1] == odd
    data = parse("t.xlsx", formatted("00000"))
    counted = data.schema.replace_variable("code", kind=rwn.Kind.COUNT)
    assert parse("t.xlsx", formatted("00000"), counted).frame["code"].tolist() == ZIPS


def test_a_release_with_codes_passes_its_second_reading(tmp_path: Path) -> None:
    source, target = tmp_path / "t.xlsx", tmp_path / "out.csv"
    source.write_bytes(formatted("000-00-0000", [1_067 + 37 * i % 50 for i in range(60)]))
    options = ["--k", "9", "--keep", "code", "--keep", "age"]
    assert main.run(["mask", str(source), str(target), *options]) == 0
    assert set(rwn.read(target).frame["code"]) <= set(rwn.read(source).frame["code"])


def test_years_and_dates_above_other_values_are_names() -> None:
    rows = [[f"r{i}", i * 3.5, i * 4.5, i * 5.5] for i in range(1, 20)]
    data = parse("t.xlsx", sheet(["region", 2019, 2020, 2021], *rows))
    assert data.names == ("region", "2019", "2020", "2021")
    day = datetime.datetime(2020, 1, 31)
    data = parse("t.xlsx", sheet(["region", day], *([f"r{i}", i] for i in range(9))))
    assert data.names[1].startswith("2020-01-31")


@pytest.mark.parametrize(
    "rows",
    [
        [["Ulm", 1987, 34.5], ["Bonn", 1990, 33.5], ["Kiel", 1956, 30.5]],
        [["Ulm", 1987, 2005], ["Bonn", 1990, 2011], ["Kiel", 1956, 1999]],
        [["Ulm", 2000], ["Bonn", 1500], ["Kiel", 3000]],
        [["Ulm", 34], ["Bonn", 21], ["Kiel", 19]],
    ],
)
def test_a_first_record_is_still_no_line_of_names(rows: list[list[object]]) -> None:
    with pytest.raises(InputError, match="the name is a number or a date"):
        parse("t.xlsx", sheet(*rows))


def under(header: Callable[[Any], None], rows: int, width: int, first: str = "ab") -> bytes:
    def fill(book: Any, page: Any) -> None:
        header(page)
        for row in range(rows, rows + 30):
            page.write_row(row, 0, [first[row % 2], *(row * (2 + j) / 4 for j in range(1, width))])

    return workbook(fill)


def _over_two(page: Any) -> None:
    page.write(0, 0, "Region")
    page.merge_range(0, 1, 0, 2, "Income")
    page.write(0, 3, "Age")
    page.write_row(1, 1, ["men", "women"])


def _tall(page: Any) -> None:
    page.write(0, 0, "Table 7: what the office found")
    page.merge_range(2, 0, 3, 0, "Region")
    page.merge_range(2, 1, 2, 2, "Income")
    page.merge_range(2, 3, 3, 3, "Age")
    page.write_row(3, 1, ["men", "women"])


def _not_merged(page: Any) -> None:
    page.write_row(0, 0, ["", "Income", "", "Wealth", ""])
    page.write_row(1, 0, ["Region", "men", "women", "men", "women"])


def _of_years(page: Any) -> None:
    page.merge_range(0, 1, 0, 2, "Income")
    page.merge_range(0, 3, 0, 4, "Wealth")
    page.write_row(1, 0, ["Region", 2019, 2020, 2019, 2020])


def _units(page: Any) -> None:
    page.write_row(0, 0, ["Region", "Income", "Age"])
    page.write_row(1, 0, ["", "EUR", "years"])


HEADINGS = {
    "over two columns": (_over_two, 2, ["Region", "Income men", "Income women", "Age"], 0),
    "with a title": (_tall, 4, ["Region", "Income men", "Income women", "Age"], 2),
    "not merged": (
        *(_not_merged, 2),
        *(["Region", "Income men", "Income women", "Wealth men", "Wealth women"], 0),
    ),
    "years": (
        *(_of_years, 2),
        *(["Region", "Income 2019", "Income 2020", "Wealth 2019", "Wealth 2020"], 0),
    ),
    "units": (_units, 2, ["Region", "Income EUR", "Age years"], 0),
}


@pytest.mark.parametrize("case", HEADINGS)
def test_names_in_several_rows_are_joined(case: str) -> None:
    header, rows, names, above = HEADINGS[case]
    content = under(header, rows, len(names))
    layout = seen_in_workbook(content).layout
    assert (layout.header, layout.above, layout.fill) == (2, above, False)
    data = parse("t.xlsx", content, None, layout)
    assert (list(data.names), data.n) == (names, 30)
    assert data.schema.file is not None
    again = parse("t.xlsx", content, rwn.Schema.from_toml(data.schema.to_toml()))
    assert again.fingerprint == data.fingerprint


def test_a_text_may_have_names_in_several_lines(tmp_path: Path) -> None:
    lines = ["region,income,,age", ",men,women,", *(f"r{i % 3},{i},{2 * i},{i}" for i in range(9))]
    layout = FileLayout(header=2)
    data = parse("t.csv", "\n".join(lines).encode(), None, layout)
    assert data.names == ("region", "income men", "income women", "age")
    assert (data.n, data.frame["age"].tolist()) == (9, [*range(9)])
    source, target = tmp_path / "t.csv", tmp_path / "o.csv"
    source.write_text("\n".join(lines))
    options = ["--file", "header=2", "--k", "3", *(w for n in data.names for w in ("--keep", n))]
    assert main.run(["mask", str(source), str(target), *options]) == 0
    for wrong in (10, -1, "two"):
        with pytest.raises(SchemaError, match="true, false or a number of lines to 9"):
            FileLayout(header=wrong)  # type: ignore[arg-type]


# ---------------------------------------------------------------- rows at the end

BODY = [[f"r{i}", i + 3, i * 100.5] for i in range(1, 21)]
NAMES = ["region", "n", "income"]
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
def test_totals_and_sources_are_seen_and_left_out_on_request(case: str, kind: str) -> None:
    rows = [NAMES, *BODY, *ENDS[case]]
    content, seen = written(rows, kind)
    assert seen is not None
    data = parse("t.xlsx" if kind == "xlsx" else "t.csv", content, None, seen.layout)
    assert data.n == len(BODY)
    assert data.frame["n"].tolist() == [row[1] for row in BODY]
    assert data.frame["income"].tolist() == [row[2] for row in BODY]


def test_blank_lines_between_notes_take_no_record() -> None:
    text = "a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(9)) + "\nNote\n\nSource: x\n"
    seen = guess_text_layout(text.encode(), ",")
    assert seen is not None
    assert parse("t.csv", text.encode(), None, seen.layout).frame["a"].tolist() == [*range(9)]


def test_rows_at_the_end_are_said_in_python_and_the_shell_and_left_out_by_their_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(written([NAMES, *BODY, *ENDS["total"], *ENDS["source"]], "csv")[0])
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
    """Fifty tables without such rows: real ones and their parts, and traps."""
    tables: list[list[list[object]]] = []
    rng = np.random.default_rng(1)
    for name in rwn.DEMOS:
        frame = rwn.load_demo(name).frame
        for count in (len(frame), 150, 12):
            part = frame.head(min(count, 2_000))
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
        tables.append([NAMES, *BODY, last])
    tables.append([["name", "pay"], *([f"p{i}", i] for i in range(9)), ["q", None]])
    tables.append([["x"], *([i] for i in range(1, 9)), [3]])
    tables.append([["x", "y"], *([0, 0] for _ in range(12)), [1, 1]])
    tables.append([["x", "y"], [1, 2], [1, 2], [2, 4]])
    pairs = (([f"r{i}", "a", i], [f"r{i}", "Total", i]) for i in range(9))
    tables.append([["region", "part", "n"], *(row for pair in pairs for row in pair)])
    tables.append([["t", "cumulated"], *([i, i * (i + 1) // 2] for i in range(12))])
    while len(tables) < 50:
        n = int(rng.integers(5, 60))
        values = rng.normal(size=(n, 3)).round(2).tolist()
        tables.append([["w", "x", "y", "z"], *([f"k{rng.integers(4)}", *row] for row in values)])
    return tables


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_none_of_fifty_ordinary_tables_loses_a_row(kind: str) -> None:
    tables = ordinary()
    assert len(tables) >= 50
    alarms = []
    for number, rows in enumerate(tables):
        _, seen = written(rows, kind)
        alarms += [number] if seen is not None and seen.layout.below else []
    assert alarms == []
