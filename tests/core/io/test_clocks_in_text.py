"""Times of the day in text: numbers of seconds in every file, released and read again as such."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.io.parse import parse
from tests.core.io.test_excel_sheets import sheet

CLOCKS = {
    "07:35": 27_300,
    "7:35 PM": 70_500,
    "23:59:59": 86_399,
    "0:00": 0,
    "12:05 AM": 300,
    "12:05pm": 43_500,
    "5 p.m.": 61_200,
}


def table(texts: list[str]) -> str:
    return "\n".join(["n,at", *(f"{i},{text}" for i, text in enumerate(texts))])


@pytest.mark.parametrize("repeat", [1, 3])
def test_clocks_are_seconds_as_in_other_formats(repeat: int) -> None:
    data = parse("t.csv", table([*CLOCKS, ""] * repeat).encode())
    assert data.frame["at"].dropna().tolist() == [*CLOCKS.values()] * repeat
    assert data.frame["at"].isna().sum() == repeat
    assert any("at has times of the day: they are numbers of sec" in n for n in data.notices)
    texts = parse("t.xlsx", sheet(["n", "at"], *([i, text] for i, text in enumerate(CLOCKS))))
    assert texts.frame["at"].tolist() == [*CLOCKS.values()]
    times = [datetime.time(7, 35), datetime.time(23, 59, 59)]
    cells = parse("t.xlsx", sheet(["n", "at"], *([i, time] for i, time in enumerate(times))))
    assert cells.frame["at"].tolist() == [27_300, 86_399]


def test_parts_of_a_second_stay() -> None:
    data = parse("t.csv", table(["07:35:00.25", "07:35", "NA"]).encode())
    assert data.frame["at"].dropna().tolist() == [27_300.25, 27_300]
    assert "at has 1 times NA: they count as missing." in data.notices


@pytest.mark.parametrize("text", ["24:01", "7:60", "13:05 PM", "0:05 PM", "7:5", "noon", "7"])
def test_a_column_with_another_text_is_said_to_be_categories(text: str) -> None:
    data = parse("t.csv", table(["07:35", "08:10", text, "09:00"]).encode())
    assert data.frame["at"].tolist()[2] == text
    (said,) = (notice for notice in data.notices if "Read as categories of texts" in notice)
    assert "at (line" in said


def test_a_schema_may_have_the_texts_or_the_seconds() -> None:
    content = table(["2:10", "1:05", "3:15", "2:10"]).encode()
    schema = parse("t.csv", content).schema
    assert parse("t.csv", content, schema).frame["at"].tolist() == [7_800, 3_900, 11_700, 7_800]
    scores = schema.replace_variable("at", kind=rwn.Kind.CATEGORICAL)
    assert parse("t.csv", content, scores).frame["at"].tolist() == ["2:10", "1:05", "3:15", "2:10"]


def test_a_release_with_clocks_passes_its_second_reading(tmp_path: Path) -> None:
    source, target = tmp_path / "t.csv", tmp_path / "out.csv"
    texts = [f"{i % 12 + 1}:{i % 60:02d} {'AP'[i % 2]}M" for i in range(60)]
    source.write_text(table(texts))
    assert main.run(["mask", str(source), str(target), "--k", "3", "--keep", "n"]) == 0
    released, known = (set(rwn.read(each).frame["at"]) for each in (target, source))
    assert len(released) > 20
    assert released <= known
