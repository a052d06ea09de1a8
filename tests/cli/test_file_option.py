"""What the command line says of a file that lies in another way than usual."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd

from tests.core.io.test_ugly_workbook import ugly


def test_rows_around_a_sheet_are_named_and_left_out(
    rwn_command, tmp_path: Path, titled_workbook: bytes
) -> None:
    (tmp_path / "t.xlsx").write_bytes(titled_workbook)
    mask = ("mask", "t.xlsx", "o.xlsx", "--epsilon", 1, "--k", 5, "--q", 0)
    code, _, said = rwn_command(*mask)
    assert code
    assert "laid out in another way; give --file above=2 --file below=1" in said
    assert "t.xlsx, row 1: column 2 has no name; give it one." in said
    code, _, said = rwn_command(*mask, "--file", "above=2", "--file", "below=1")
    assert code == 0, said
    assert len(pd.read_excel(tmp_path / "o.xlsx", engine="calamine")) == 60


def test_dates_come_back_as_they_were_written(rwn_command, tmp_path: Path) -> None:
    days = pd.date_range("1990-01-03", periods=60, freq="37D").strftime("%d/%m/%Y")
    lines = [f"{day},{20 + i}.5" for i, day in enumerate(days)]
    (tmp_path / "t.csv").write_text("\n".join(["born,x", *lines, ""]), encoding="utf-8")
    mask = ("mask", "t.csv", "o.csv", "--epsilon", 1, "--k", 5, "--q", 0, "--keep", "born")
    code, _, said = rwn_command(*mask)
    assert code
    assert 'laid out in another way; give --file dates="DD/MM/YYYY"' in said
    assert "all fit DD/MM/YYYY: give that as the dates of the file" in said
    code, _, said = rwn_command(*mask, "--file", "dates=DD/MM/YYYY")
    assert code == 0, said
    released = (tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(released[1:]) == sorted(lines)
    assert released[0] == "born,x"


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


def test_the_record_and_the_audit_know_how_the_file_lies(rwn_command, tmp_path: Path) -> None:
    days = pd.date_range("1990-01-03", periods=60, freq="37D").strftime("%d.%m.%Y")
    lines = ["The office", "born;x", *(f"{day};{20 + i},5" for i, day in enumerate(days))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    options = ("separator=;", "decimal=,", "above=1", "dates=DD.MM.YYYY")
    given = [text for option in options for text in ("--file", option)]
    mask = ("mask", "t.csv", "o.csv", "--epsilon", 1, "--k", 5, *given, "--keep", "born")
    code, _, said = rwn_command(*mask, "--record", "r.toml", "--key-file", "key")
    assert code == 0, said
    code, output, said = rwn_command("reproduce", "r.toml", "--key", "key")
    assert code == 0, said
    assert "the same file came out of the key" in output + said
    (tmp_path / "s.toml").write_text(
        '[[variable]]\nname = "born"\nkind = "date"\nrole = "key"'
        '\n[[variable]]\nname = "x"\nkind = "continuous"'
        '\n[file]\nseparator = ";"\ndecimal = ","\nabove = 1\ndates = "DD.MM.YYYY"\n',
        encoding="utf-8",
    )
    mask = ("mask", "t.csv", "o.csv", "--epsilon", 1, "--k", 5, "--schema", "s.toml")
    code, _, said = rwn_command(*mask, "--order", "original", "--q", 0, "--overwrite")
    assert code == 0, said
    audit = ("audit", "t.csv", "o.csv", "--schema", "s.toml", "--measure", "cells_changed")
    code, output, said = rwn_command(*audit)
    assert code == 0, said


def test_the_options_of_an_ugly_workbook_are_named_and_work(rwn_command, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(ugly())
    mask = (
        "mask",
        "t.xlsx",
        "o.xlsx",
        "--epsilon",
        1,
        "--k",
        5,
        "--q",
        0,
        "--keep",
        "born",
        "--keep",
        "score",
    )
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
