"""`rwn mask --record`: the internal record of the file that was written, with its decision."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting import read_record
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

MASK = ("mask", "demo:bodyfat", "out.csv", "--epsilon", "2", "--k", "5")
SAID = "does not follow the decision of --meeting"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    one = Scenario(
        name="Careful",
        table=rwn.load_demo("bodyfat").fingerprint,
        setting=Setting(params=rwn.RWN(epsilon=2, k=5)),
    )
    decided = Decision(scenarios=(one,), chosen="Careful", date="2026-03-31")
    Path("decision.toml").write_text(decided.frozen(), encoding="utf-8")
    other = Decision(scenarios=(replace(one, table="0" * 64),), chosen="Careful")
    Path("other.toml").write_text(other.frozen(), encoding="utf-8")
    forged = decided.frozen().replace("2026-03-31", "2026-04-01")
    Path("forged.toml").write_text(forged, encoding="utf-8")
    return tmp_path


def test_the_record_is_that_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--record", "record.toml", "--meeting", "decision.toml")
    assert main.run([*MASK, *options]) == 0
    record = read_record(Path("record.toml").read_text(encoding="utf-8"))
    digest = hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
    assert record["file"]["sha256"] == digest
    said = capsys.readouterr().err
    assert digest in said
    assert SAID not in said
    assert record["decision"]["followed"] is True
    assert record["decision"]["meeting"]["date"] == "2026-03-31"


def test_another_setting_than_the_decided_one_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--record", "record.toml", "--meeting", "decision.toml")
    assert (
        main.run(["mask", "demo:bodyfat", "out.csv", "--epsilon", "3", "--k", "5", *options]) == 0
    )
    assert SAID in capsys.readouterr().err
    assert read_record(Path("record.toml").read_text("utf-8"))["decision"]["followed"] is False


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        (("--meeting", "decision.toml"), 2, "give --record"),
        (("--record", "record.txt"), 2, "ends in .toml"),
        (("--record", "no/record.toml"), 5, "does not exist"),
        (("--record", "record.toml", "--meeting", "forged.toml"), 3, "changed after"),
        (("--record", "record.toml", "--meeting", "other.toml"), 3, "made on another table"),
        (("--record", "record.toml", "--meeting", "absent.toml"), 5, "absent.toml"),
        (("--record", "s.toml", "--scenario", "s.toml"), 4, "another file of this command"),
        (("--record", "d/../s.toml", "--scenario", "s.toml"), 4, "another file of this command"),
        (("--record", "decision.toml", "--meeting", "decision.toml"), 4, "another file"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    options: tuple[str, ...], code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d").mkdir()
    scenario = Scenario(name="x", setting=Setting(params=rwn.RWN(k=5)))
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    assert main.run([*MASK, *options]) == code
    assert word in capsys.readouterr().err
    assert not Path("out.csv").exists()
    assert not Path("record.toml").exists()
