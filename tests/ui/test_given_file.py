"""The file of the command line is read ahead once, for who asks first, if it is still the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_ui.server import given_file
from rwn_ui.server.environment import FILE_VARIABLE

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
    assert given_file._begun is None


def test_a_file_that_changed_meanwhile_is_read_anew(path, begun) -> None:
    given_file.read_given_ahead()
    path.write_text(SECOND)
    assert given_file.read_given().n == 4
    assert begun == ["begun", "read"]


def test_a_refusal_is_said_to_who_asks(path) -> None:
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


def test_nothing_is_begun_without_a_file(monkeypatch: pytest.MonkeyPatch, begun) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    given_file.read_given_ahead()
    assert given_file.given_file() is None
    assert begun == []


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


def test_an_upload_has_no_place_for_its_description(open_page) -> None:
    screen = open_page("data").upload("mine.csv", FIRST.encode())
    assert screen.session.path == ""
    assert "data.schema.save" not in [each.key for each in screen.test.button]
