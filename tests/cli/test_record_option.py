"""`rwn mask --record`: the internal record of the file that was written, with its decision."""

from __future__ import annotations

import hashlib
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
