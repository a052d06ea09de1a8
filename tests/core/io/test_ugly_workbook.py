"""A workbook as offices have them: titles, merged cells, comma decimals, dates as texts, n/a."""

from __future__ import annotations

import datetime
import io
import re
from dataclasses import replace

import pandas as pd
import pytest
import xlsxwriter

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.excel_reader import seen_in_workbook
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

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
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
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
    return stream.getvalue()


def test_it_is_seen_as_it_is_and_read_as_the_plain_table() -> None:
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
def test_what_is_not_said_is_refused_with_its_rows(missing: dict[str, object], words: str) -> None:
    given = {**SEEN.changed(), **missing}
    if "decimal" in missing:
        given |= {"missing": (), "dates": "YYYY-MM-DD"}
    said = said_of("t.xlsx", ugly(), None, FileLayout.from_dict(given))
    assert re.search(words, said)
    assert "k.A." not in said


def test_numbers_and_dates_as_texts_are_pointed_out() -> None:
    said = parse("t.xlsx", ugly(), None, FileLayout(above=4, below=1, missing=("k.A.",), fill=True))
    notices = " ".join(said.notices)
    assert "wage has numbers with decimal commas written as texts" in notices
    assert "born has dates written as texts" in notices


def test_a_formula_without_a_result_matters_inside_the_table_only() -> None:
    below = ugly(open_row=5 + COUNT)
    assert parse("t.xlsx", below, None, SEEN).n == COUNT
    with pytest.raises(InputError, match="row 30: 1 cell is a formula"):  # it may be a record
        parse("t.xlsx", below, None, replace(SEEN, below=0))
    with pytest.raises(InputError, match=r"t\.xlsx, row 8: 1 cell is a formula without a stored"):
        parse("t.xlsx", ugly(open_row=7), None, SEEN)


def test_missing_words_are_a_list_of_texts() -> None:
    for wrong in ("n/a", ["n/a", ""], [3]):
        with pytest.raises(SchemaError, match="missing values of a file must be a list"):
            FileLayout(missing=wrong)  # type: ignore[arg-type]
    layout = FileLayout(missing=(" n/a ",))
    text = Schema.from_toml(Schema(variables=(), file=layout).to_toml())
    assert text.file == FileLayout(missing=("n/a",))
