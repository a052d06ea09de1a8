"""`rwn claims`: the claims of a release as a file, with the readers, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from rwn_core.reporting.readers import rwn_claims

PLAN = """
[[analysis]]
name = "fat"
kind = "linear"
tolerance = 1.0
formula = "siri ~ abdomen + age"
"""


@pytest.fixture
def record(rwn_command, tmp_path: Path) -> Path:
    assert rwn_command("demo", "bodyfat", "-o", "b.csv", "--schema")[0] == 0
    words = "mask b.csv r.csv --schema b.toml --epsilon 2 --k 5 --round 0.1 --record r.toml"
    assert rwn_command(*words.split())[0] == 0
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path / "r.toml"


def test_claims_and_readers_are_written_and_read(record: Path, rwn_command) -> None:
    words = "claims r.toml -o claims.json --plan plan.toml --draws 40 --readers"
    code, _, said = rwn_command(*words.split())
    assert code == 0, said
    assert "1 of 1 analyses have a claim" in said
    assert "of 105 pairs of variables have a claim" in said
    assert (record.parent / "rwn_claims.R").exists()
    survey = rwn_claims.load(record.parent / "r.csv", record.parent / "claims.json")
    assert survey.fit("siri ~ age + abdomen").covered
    assert rwn_command(*words.split())[0] == 4  # the files are there
