"""A file in another layout: the refusal first, and how to say its layout after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rwn_core.data.schema import Schema
from tests.cli.conftest import Run

HINT = 'file = { encoding = "cp1252", separator = ";", decimal = "," }'


@pytest.fixture
def survey(rwn_command: Run) -> str:
    """A table in the layout of a spreadsheet of the west of Europe."""
    towns = ("K\u00f6ln", "Ulm", "Bonn")
    lines = [f"{towns[i % 3]};{i * 7 % 60},5;{i * 3 % 41}" for i in range(60)]
    text = "\n".join(["town;income;age", *lines]) + "\n"
    Path("t.csv").write_bytes(text.encode("cp1252"))
    return "t.csv"


def test_the_refusal_comes_first_and_the_options_after_it(rwn_command: Run, survey: str) -> None:
    code, _, said = rwn_command("mask", survey, "out.csv", "--k", 3)
    refusal, note = said.splitlines()
    assert code == 3
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert "say its encoding, or save" in refusal
    assert note.startswith("note: the file seems to be laid out in another way; give --file ")
    options = note.partition("give ")[2].replace('"', "").split()
    assert rwn_command("mask", survey, "out.csv", "--k", 45, *options)[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "t.csv", "t.csv"),
        ("sweep", "t.csv", "-o", "s.csv", "--k", 3),
        ("seek", "t.csv", "--k", 3),
        ("seek-slices", "t.csv"),
    ],
)
def test_without_the_option_it_is_the_schema_that_says_so(
    rwn_command: Run, survey: str, command: tuple[object, ...]
) -> None:
    code, _, said = rwn_command(*command)
    assert code == 3
    assert "--file" not in said
    refusal, note = said.splitlines()
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert note.endswith(f"(--schema FILE.toml) with the line {HINT}")


def test_that_line_alone_is_a_schema(rwn_command: Run, survey: str) -> None:
    Path("t.toml").write_text(HINT, encoding="utf-8")
    assert Schema.from_toml(HINT).variables == ()
    code, _, said = rwn_command("mask", survey, "out.csv", "--k", 45, "--schema", "t.toml")
    assert code == 0
    assert "60 records, 3 variables" in said


def test_a_masked_file_has_no_schema_to_say_it(rwn_command: Run, survey: str) -> None:
    code, _, said = rwn_command("audit", "demo:bodyfat", survey)
    assert code == 3
    assert "laid out" not in said


def test_invented_names_are_said(rwn_command: Run) -> None:
    lines = [f"{i * 7 % 60},{i * 3 % 41}" for i in range(60)]
    Path("n.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    mask = ("mask", "n.csv", "o.csv", "--k", 3, "--file", "header=false")
    code, _, said = rwn_command(*mask, "--keep", "V1")  # it has each number from 0 to 59 once
    assert code == 0, said
    assert "note: The file has no line with names, so they are invented: V1 to V2." in said
