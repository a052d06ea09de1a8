"""Files that a page opens: bad, wide, titled, of any format, or of the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_ui.background.opening import WIDE
from rwn_ui.data import variables
from rwn_ui.server import given_file
from rwn_ui.server.environment import FILE_VARIABLE

SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
TABLE = f"a,b,c\n{ROWS}"
BAD_FILES = {
    "empty.csv": (b"", "empty.csv is empty", "choose a file"),
    "latin1.csv": (f"{TABLE}\n1,2,café\n".encode("latin-1"), "line 32: there are bytes", "UTF-8"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG image", "save the table"),
    "quote.csv": (f'{TABLE}\n1,2,"{SECRET}\n', "line 32: a quote is opened", "close it"),
    "broken.parquet": (b"PAR1" + SECRET.encode() + b"PAR1", "broken.parquet is damaged", "again"),
}


def test_it_is_one_sentence_and_the_table_before_it_stays(open_page, caplog) -> None:
    screen = open_page("data")
    for name, (content, position, remedy) in BAD_FILES.items():
        screen.upload(name, content if isinstance(content, bytes) else content.encode("utf-8"))
        (shown,) = screen.errors
        sentence = shown.replace("\\", "")  # which keeps Markdown from reading names
        assert name in sentence
        assert position in sentence, sentence
        assert remedy in sentence, sentence
        assert sentence.endswith(".")
        assert sentence.count(". ") == 0, sentence
        assert screen.session.name == "bodyfat"
        assert SECRET not in screen.everything() + caplog.text
    screen.upload("good.csv", TABLE.encode("utf-8"))
    assert screen.errors == []
    assert screen.session.name == "good.csv"


def test_odd_columns_are_said_and_the_file_is_open(open_page, caplog) -> None:
    screen = open_page("data")
    for content, said in (
        (f"{TABLE}\ninf,2,a\n", "texts: a (line 32: 1 value is infinite"),
        (f"{TABLE}\n{SECRET},2,a\n", "texts: a (line 32: 1 value is not a number"),
        ("a,b\n" + "\n".join(f"{i}," for i in range(30)), "of every release: b (no values)"),
    ):
        screen.upload("odd.csv", content.encode())
        assert screen.errors == []
        assert any(said in notice for notice in screen.session.data.notices)
        assert not any(SECRET in notice for notice in screen.session.data.notices)


def test_a_workbook_with_a_title_is_one_click_away(open_page, titled_workbook: bytes) -> None:
    screen = open_page("data").upload("t.xlsx", titled_workbook)
    assert any("row 1: column 2 has no name" in error for error in screen.errors)
    words = [each.value for each in screen.test.markdown]
    assert "Names in row 3; 2 rows above the table; 1 row below it." in words
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []
    assert screen.session.data.n == 60
    assert screen.session.data.names == ("age", "pay", "place")


def test_ambiguous_dates_are_chosen_by_the_user(open_page) -> None:
    rows = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/19{50 + i % 40},{i}.5" for i in range(60)]
    content = "\n".join(["born,x", *rows, ""]).encode()
    screen = open_page("data").upload("t.csv", content)
    assert screen.errors == []
    assert any("all fit DD/MM/YYYY and MM/DD/YYYY" in said for said in screen.session.data.notices)
    (dates,) = (each for each in screen.test.selectbox if each.label == "Dates")
    assert dates.value == "YYYY-MM-DD"
    dates.set_value("MM/DD/YYYY").run()
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []
    assert screen.session.data.schema.variable("born").notation == "MM/DD/YYYY"
    assert screen.session.data.frame["born"].dt.month[11] == 12


TOY = replace(
    io.FORMATS[0], key="toy", title="Toy", demand="no blanks", suffixes=(".toy", ".plaything")
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the pages ask Streamlit for, by label."""
    result: dict[str, Any] = {}

    def note(name: str) -> None:
        real = getattr(st, name)

        def seen(label: str, *arguments: Any, **more: Any) -> Any:
            result[label] = (arguments, more)
            return real(label, *arguments, **more)

        monkeypatch.setattr(st, name, seen)

    for name in ("file_uploader", "segmented_control", "download_button"):
        note(name)
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], TOY))
    return result


def test_a_third_format_can_be_opened_and_written(asked, open_page) -> None:
    screen = open_page("data")
    (label,) = (label for label in asked if label.startswith("Open your table"))
    assert label.endswith(
        "CSV (UTF-8, separated by commas, one header line), Parquet or Toy (no blanks)"
    )
    assert asked[label][1]["type"] == ["csv", "parquet", "pq", "toy", "plaything"]
    screen.visit("release")
    assert asked["Format of the file"][0] == (["csv", "parquet", "toy"],)
    assert screen.errors == []


NAMES = [f"v{number}" for number in range(1, WIDE + 11)]


def wide(records: int = 40) -> bytes:
    numbers = np.random.default_rng(1)
    rows = numbers.integers(0, 50, size=(records, len(NAMES)))
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def test_a_wide_file_waits_for_its_variables(open_page) -> None:
    screen = open_page("data").upload("wide.csv", wide())
    assert screen.errors == []
    assert screen.session.name == "bodyfat"
    assert not screen.test.get("arrow_data_frame")
    (chosen,) = [each for each in screen.test.multiselect if each.label.startswith("Variables of")]
    assert chosen.value == []
    key = chosen.key
    screen.test.button(key=f"{key}.The first 50").click().run()
    screen.test.button(key=f"{key}.yes").click().run()
    assert screen.errors == []
    session = screen.session
    assert (session.name, session.data.p) == ("wide.csv", len(NAMES))
    assert [v.name for v in session.data.schema.released] == NAMES[:50]
    assert session.data.notices[-1] == f"{len(NAMES) - 50} variables are left out of every release."
    assert [each.name for each in variables._listed(session.data.schema)] == NAMES[:50]


def test_the_file_of_the_command_line_waits_too(open_page, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(wide())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune")
    assert screen.session.name == "bodyfat"
    screen.visit("data")
    assert screen.work.opening.waiting.p == len(NAMES)
    key = f"data.{screen.session.table_version}.wide"
    screen.test.multiselect(key=key).set_value(["v3", "v5"]).run()
    screen.test.button(key=f"{key}.yes").click().run()
    assert [v.name for v in screen.session.data.schema.released] == ["v3", "v5"]
    assert screen.session.path == str(path)


def test_every_range_of_whole_numbers_is_counted_whole() -> None:
    for high in range(1, 300):
        known = np.arange(high + 1, dtype=float)
        counts = np.histogram(known, bins=variables._bins(known))[0]
        assert counts.sum() == high + 1
        assert len(counts) <= variables._BARS
        assert len(set(counts[:-1].tolist())) <= 1  # no hole, no peak


FIRST, SECOND = "x,y\n1,2\n3,4\n5,7\n", "x,y\n8,9\n3,4\n5,7\n6,6\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    given = tmp_path / "mine.csv"
    given.write_text(FIRST)
    monkeypatch.setenv(FILE_VARIABLE, str(given))
    return given


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were begun, or read at once."""
    asked: list[str] = []
    begin, read = given_file.begin, rwn.read

    def beginning(path: Path, schema: rwn.Schema | None) -> object:
        asked.append("begun")
        return begin(path, schema)

    def reading(path: Path, schema: Path | None) -> rwn.Microdata:
        asked.append("read")
        return read(path, schema)

    monkeypatch.setattr(given_file, "begin", beginning)
    monkeypatch.setattr(rwn, "read", reading)
    return asked


def test_the_first_takes_what_was_begun_and_the_next_reads_anew(path, begun) -> None:
    given_file.read_given_ahead()
    tables = [given_file.read_given() for _ in range(2)]
    assert begun == ["begun", "read"]
    assert tables[0].fingerprint == tables[1].fingerprint
    assert tables[0] is not tables[1]  # nothing is shared between two users
    assert given_file._started is None
    given_file.read_given_ahead()
    path.write_text(SECOND)  # a file that has changed meanwhile is read anew
    assert given_file.read_given().n == 4
    assert begun == ["begun", "read"] * 2
    path.write_text("x,x\n1,2\n3,4\n")
    given_file.read_given_ahead()
    with pytest.raises(rwn.InputError, match="x"):
        given_file.read_given()


def test_a_file_that_is_gone_is_refused_whenever_it_went(path, begun) -> None:
    given_file.read_given_ahead()
    path.unlink()
    with pytest.raises(rwn.RWNError, match=r"mine\.csv"):
        given_file.read_given()
    given_file.read_given_ahead()  # nothing is begun, and nothing fails
    assert begun == ["begun", "read"]


def test_the_description_is_saved_with_the_file_and_found_again(path, open_page) -> None:
    screen = open_page("data")
    assert screen.session.path == str(path)
    schema = screen.session.data.schema.replace_variable("x", role="key")
    screen.session.data = screen.session.data.with_schema(schema)
    screen.session.grid_version += 1
    screen.test.run()
    screen.test.button(key="data.schema.save").click().run()
    assert screen.errors == []
    saved = path.with_name("mine.csv.toml")
    assert rwn.Schema.from_toml(saved.read_text(encoding="utf-8")).variable("x").role == "key"
    again = open_page("data")
    assert again.session.data.schema.variable("x").role == "key"
    assert any("saved as mine.csv.toml" in each.value for each in again.test.caption)
