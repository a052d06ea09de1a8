"""Files in another layout or with labels: what is said of them, and how they come back."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from tests.cli.conftest import Run
from tests.core.io.test_ugly_workbook import ugly


def test_decimal_commas_come_back_and_are_known_again(rwn_command, tmp_path: Path) -> None:
    lines = [f"{20 + i},5;{i % 7};{'ab'[i % 2]}" for i in range(60)]
    content = "\n".join(["x;y;g", *lines, ""])
    (tmp_path / "t.csv").write_text(content, encoding="cp1252")
    layout = ("--file", "separator=;", "--file", "decimal=,", "--file", "encoding=cp1252")
    (tmp_path / "s.toml").write_text(
        '[file]\nseparator = ";"\ndecimal = ","\nencoding = "cp1252"\n', encoding="utf-8"
    )
    kept = ("--epsilon", 1, "--k", 5, "--q", 0, "--order", "original")
    for told in (layout, ("--schema", "s.toml")):
        code, _, said = rwn_command("mask", "t.csv", "o.csv", "--overwrite", *kept, *told)
        assert code == 0, said
        assert (tmp_path / "o.csv").read_text(encoding="utf-8") == content
        assert "note: CSV does not keep the encoding of the file." in said
    (tmp_path / "plain.csv").write_text(content.replace(",", ".").replace(";", ","))
    for masked in ("o.csv", "plain.csv"):  # a release, and what another program made of it
        code, output, said = rwn_command("audit", "t.csv", masked, "--schema", "s.toml", "--json")
        assert code == 0, said
        assert '"variables": 3' in output
    secret = ("--key-file", "key", "--record", "r.toml", "--overwrite")
    masked = ("mask", "t.csv", "o.csv", "--k", 5, "--weight", "g=0")  # else no g would change
    code, _, said = rwn_command(*masked, *layout, *secret)
    assert code == 0, said
    code, _, said = rwn_command("reproduce", "r.toml", "--key", "key", "--out", "again.csv")
    assert code == 0, said
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "o.csv").read_bytes()
    assert b",5;" in (tmp_path / "o.csv").read_bytes()
    assert rwn_command("report", "r.toml", "--public", "-o", "card.toml")[0] == 0
    assert rwn_command("verify", "o.csv", "card.toml")[0] == 0


def test_the_options_of_an_ugly_workbook_are_named_and_work(rwn_command, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(ugly())
    mask = ("mask", "t.xlsx", "o.xlsx", "--epsilon", 1, "--k", 5, "--q", 0)
    mask += ("--keep", "born", "--keep", "score")
    code, _, said = rwn_command(*mask)
    assert code
    words = (
        '--file decimal="," --file above=4 --file below=1 --file dates="DD.MM.YYYY" '
        '--file missing="k.A." --file fill=true'
    )
    assert words in said
    options = [word for word in shlex.split(words) if word != "--file"]
    given = [word for option in options for word in ("--file", option)]
    code, _, said = rwn_command(*mask, *given)
    assert code == 0, said
    assert len(pd.read_excel(tmp_path / "o.xlsx", engine="calamine")) == 24


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


def test_without_the_option_it_is_the_schema_that_says_so(rwn_command: Run, survey: str) -> None:
    code, _, said = rwn_command("seek", survey, "--k", 3)
    assert code == 3
    assert "--file" not in said
    alias, refusal, note = said.splitlines()
    assert alias.startswith("note: rwn find is the name")
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert note.endswith(f"(--schema FILE.toml) with the line {HINT}")


SEX = {1: "male", 2: "female", 9: "refused"}


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "sex": rng.choice([1.0, 2.0, 9.0], 60),
            "health": rng.choice([1.0, 2.0, 3.0], 60),
            "income": np.where(rng.random(60) < 0.1, -9, rng.normal(2000, 300, 60).round(2)),
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "s.sav",
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={"sex": SEX, "health": {1: "bad", 2: "fair", 3: "good"}},
        missing_ranges={"sex": [9], "income": [-9]},
        variable_measure={"health": "ordinal"},
    )


def test_a_release_in_any_format_reads_the_same(labelled, rwn_command) -> None:
    tables = {}
    for ending in ("sav", "csv", "rds"):
        line = f"mask s.sav o.{ending} --k 3 --order original --seed 1"
        code, _, said = rwn_command(*line.split())
        assert code == 0
        assert "sex has" in said
        assert "declared as missing (9)" in said
        lost = said.count("does not keep")
        assert lost == (4 if ending == "csv" else 0)
        code, tables[ending], _ = rwn_command(
            "audit", "s.sav", f"o.{ending}", "--measure", "correlation", "--measure", "marginals"
        )
        assert code == 0
    assert len(set(tables.values())) == 1
    assert "correlation" in tables["sav"]
