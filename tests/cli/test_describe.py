"""The command that guesses what a table's variables are."""

from __future__ import annotations

from pathlib import Path

import rwn_core as rwn
from rwn_core.io.write import table_bytes
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


def test_nothing_is_known_of_a_table_without_telling_names(rwn_command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x1,x2\n1,3\n2,5\n2,7\n3,3\n", encoding="utf-8")
    code, out, _ = rwn_command("describe", "t.csv")
    assert code == 0
    assert out.count("none known") == 4
