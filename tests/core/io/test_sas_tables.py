"""A SAS table whose deleted rows stand in its bytes is refused; letters for missing are read."""

from dataclasses import replace

import pandas as pd
import pytest

from rwn_core import InputError
from rwn_core.io.parse import parse
from rwn_core.io.sas_pages import deleted_rows
from tests.written_sas import SasTable

PEOPLE = SasTable(names=["age", "income"], rows=[[20.0 + i, i * i + 0.5] for i in range(21)])
WIDE = replace(PEOPLE, wide=True)
WRITTEN = [PEOPLE, replace(PEOPLE, packed=True), WIDE, replace(WIDE, packed=True)]


@pytest.mark.parametrize("table", WRITTEN)
def test_a_table_without_deleted_rows_opens(table: SasTable):
    content = table.to_bytes()
    assert deleted_rows(content) == 0
    data = parse("people.sas7bdat", content)
    assert data.frame["age"].tolist() == [20.0 + i for i in range(21)]
    assert data.frame["income"].tolist() == [i * i + 0.5 for i in range(21)]


@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize("table", WRITTEN)
def test_deleted_rows_are_counted_and_refused(table: SasTable, stated: bool):
    """On both pages, stated or only marked; the ninth mark begins another byte."""
    content = replace(table, deleted=frozenset({0, 9, 20}), stated=stated).to_bytes()
    assert deleted_rows(content) == 3
    with pytest.raises(InputError, match=r"still holds 3 deleted rows.*data new; set old; run;"):
        parse("people.sas7bdat", content)


def test_one_deleted_row_is_one_row():
    content = replace(PEOPLE, deleted=frozenset({4})).to_bytes()
    with pytest.raises(InputError, match="still holds 1 deleted row, which"):
        parse("people.sas7bdat", content)


def test_a_marked_page_without_a_mark_is_no_deleted_row():
    """SAS marks the last page of a table with an index, too."""
    content = bytearray(PEOPLE.to_bytes())
    kind = 1024 + 16
    assert content[kind : kind + 2] == b"\x00\x02"
    content[kind] = 0x80
    assert deleted_rows(bytes(content)) == 0
    # planted: one bit among the marks, which lie before the first subheader
    first_subheader = int.from_bytes(content[1024 + 24 + 6 * 12 :][:4], "little")
    content[1024 + first_subheader - 2] = 0x40
    assert deleted_rows(bytes(content)) == 1


@pytest.mark.parametrize("size", [10, 200, 1024, 1100, 3000])
def test_what_is_cut_off_is_refused_by_its_reader(size: int):
    content = replace(PEOPLE, deleted=frozenset({20})).to_bytes()[:size]
    assert deleted_rows(content) == 0
    if size > 32:
        with pytest.raises(InputError):
            parse("people.sas7bdat", content)


def test_letters_for_missing_are_said_and_stay_in_the_schema():
    """SAS writes a missing number as one that is none, with the letter turned over in its bits."""
    rows: list[list[float | bytes]] = [[float(i), i + 0.5] for i in range(8)]
    rows[2][1] = bytes(5) + bytes([0xFF - ord("R"), 0xFF, 0xFF])
    rows[3][1] = bytes(5) + bytes([0xFF - ord("."), 0xFF, 0xFF])
    data = parse("t.sas7bdat", SasTable(names=["id", "income"], rows=rows).to_bytes())
    assert data.schema.variable("income").missing_codes == ("R",)
    assert data.frame["income"].isna().tolist() == [i in (2, 3) for i in range(8)]
    assert data.frame["income"].dropna().tolist() == [rows[i][1] for i in (0, 1, 4, 5, 6, 7)]
    assert any("income has 1 value declared as missing (R)" in note for note in data.notices)
    assert pd.api.types.is_numeric_dtype(data.frame["income"].dtype)
