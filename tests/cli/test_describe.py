"""The command that guesses what a table's variables are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import rwn_core as rwn
from rwn_core.io.write import table_bytes
from tests.cli.conftest import Run
from tests.core.data.test_role_guesses import survey


def test_a_survey_is_described_and_the_schema_is_ready_to_mask(rwn_command, tmp_path: Path) -> None:
    data = survey()
    (tmp_path / "s.csv").write_bytes(table_bytes(data.frame, "csv", data.schema))
    code, out, said = rwn_command("describe", "s.csv", "-o", "s.toml")
    assert code == 0, said
    assert "s.csv: 400 records, 7 variables" in said
    assert "Who could be recognized: variables that others may know: Geschlecht (guessed" in out
    assert "What is confidential: hhIncome (guessed: by its name), Krankheit" in out
    assert "household or cluster: hid (guessed: its values number groups of records)" in out
    assert "open: design_weight is the sampling weight and is masked" in out
    schema = rwn.Schema.from_toml((tmp_path / "s.toml").read_text(encoding="utf-8"))
    assert schema.name_with_role(rwn.Role.HOUSEHOLD) == "hid"
    code, _, said = rwn_command("describe", "s.csv", "-o", "s.toml")
    assert code
    assert "s.toml exists; choose another name" in said
    code, _, said = rwn_command(
        "mask", "s.csv", "o.csv", "--schema", "s.toml", "--epsilon", 6, "--k", 40
    )
    assert code == 0, said


def test_the_official_file_that_a_table_looks_like_is_named(rwn_command, tmp_path: Path) -> None:
    names = "DB030,RB050,PB140,PB150,PY010G,HY010,mine"
    rows = [f"{i // 2},{400 + i // 2}.5,{1950 + i % 50},{1 + i % 2},{i * 7},{i // 2 * 9},{i % 5}"
            for i in range(60)]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join([names, *rows, ""]), encoding="utf-8")
    code, _, said = rwn_command("describe", "t.csv")
    assert code == 0, said
    assert "note: This looks like EU-SILC: 6 of 7 names." in said
    assert rwn.read(tmp_path / "t.csv").looks_like == "This looks like EU-SILC: 6 of 7 names."
    (tmp_path / "t.csv").write_text("age,x\n1,3\n2,5\n2,7\n", encoding="utf-8")
    assert "This looks like" not in rwn_command("describe", "t.csv")[2]
    assert rwn.read(tmp_path / "t.csv").looks_like is None


def test_a_description_that_lies_with_the_file_is_used_and_named(
    rwn_command, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("code,x\n1,3\n2,5\n2,7\n1,3\n", encoding="utf-8")
    mask = ("mask", "t.csv", "o.csv", "--epsilon", 6, "--k", 2, "--overwrite", "--record", "r.toml")
    code, _, said = rwn_command(*mask)
    assert code == 0, said
    assert "described by" not in said
    described = rwn.read(tmp_path / "t.csv").schema.replace_variable("code", role="identifier")
    (tmp_path / "t.csv.toml").write_text(described.to_toml(), encoding="utf-8")
    code, _, said = rwn_command(*mask)
    assert code == 0, said
    assert said.count("note: described by t.csv.toml, which lies with the file.") == 1
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").startswith("x\n")
    assert "t.csv.toml" in (tmp_path / "r.toml").read_text(encoding="utf-8")
    (tmp_path / "other.toml").write_text(
        rwn.read(tmp_path / "t.csv").schema.to_toml(), encoding="utf-8"
    )
    code, _, said = rwn_command(*mask, "--schema", "other.toml")
    assert code == 0, said
    assert "described by" not in said
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").startswith("code,x\n")


def test_a_description_of_another_table_is_refused_by_name(rwn_command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,x\n1,3\n2,5\n", encoding="utf-8")
    (tmp_path / "t.csv.toml").write_text('[[variable]]\nname="y"\nkind="count"\n')
    code, _, said = rwn_command("describe", "t.csv")
    assert code
    assert "described by t.csv.toml" in said
    assert "the schema has a variable y that the table lacks" in said


def test_only_some_variables_are_released_and_the_record_names_the_others(
    rwn_command, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1,3,1\n2,5,2\n2,7,3\n1,3,4\n", encoding="utf-8")
    mask = ("mask", "t.csv", "o.csv", "--k", 2, "--seed", 1, "--only", "a, c", "--record", "r.toml")
    code, _, said = rwn_command(*mask)
    assert code == 0, said
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").startswith("a,c\n")
    assert 'dropped = ["b"]' in (tmp_path / "r.toml").read_text(encoding="utf-8")
    code, _, said = rwn_command("describe", "t.csv", "--only", "b", "-o", "s.toml")
    assert code == 0, said
    schema = rwn.Schema.from_toml((tmp_path / "s.toml").read_text(encoding="utf-8"))
    assert [v.name for v in schema.released] == ["b"]
    code, _, said = rwn_command("mask", "t.csv", "p.csv", "--k", 2, "--only", "d")
    assert code
    assert "There is no variable d; the table has: a, b, c." in said


def test_a_file_with_odd_columns_is_described_masked_and_audited(
    rwn_command, tmp_path: Path
) -> None:
    """Finding F4: a house number 12 1/2, a column without values, a wiped column of a release."""
    rows = [f"{20 + i % 50},{'12 1/2' if i == 7 else i % 40},,{i * 7 % 90}.5" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["age,house,empty,x", *rows, ""]), encoding="utf-8")
    for more in ((), ("--drop", "house"), ("--drop", "empty"), ("--only", "age,x")):
        code, out, said = rwn_command("describe", "t.csv", *more)
        assert code == 0, said
        assert "Left out of every release: empty (no values)." in said
        assert "age" in out
    given = ("--k", 5, "--drop", "house", "--seed", 1)
    code, _, said = rwn_command("mask", "t.csv", "o.csv", *given, "--order", "original")
    assert code == 0, said
    masked = pd.read_csv(tmp_path / "o.csv")
    assert masked.columns.tolist() == ["age", "x"]
    for wiped in (None, "***"):
        masked.assign(age=wiped).to_csv(tmp_path / "w.csv", index=False)
        code, out, said = rwn_command(
            "audit", "t.csv", "w.csv", "--drop", "house", "--measure", "cells_changed"
        )
        assert code == 0, said
        assert "not compared, because MASKED has no such values: age" in said
    code, _, said = rwn_command("recommend", "t.csv", "--only", "age,x")
    assert code == 0, said


def test_only_acts_on_both_tables_of_an_audit_and_the_rest_is_named(
    rwn_command: Run, tmp_path: Path
) -> None:
    rows = "".join(f"{20 + i * 7 % 60},{'NS'[i % 2]},{i % 30} 1/2\n" for i in range(60))
    for name in ("in.csv", "out.csv"):
        (tmp_path / name).write_text(f"age,region,house\n{rows}")
    code, shown, said = rwn_command("audit", "in.csv", "out.csv", "--only", "age,region")
    assert code == 0, said
    assert "not compared, because ORIGINAL is read without: house." in said
    assert "marginals" in shown
    made = ("--method", "rwn", "--set", "k=5")
    _, _, said = rwn_command("audit", "in.csv", "out.csv", "--only", "age,region", *made)
    assert "the worst case is not computed" in said
