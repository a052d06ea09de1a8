"""The tutorial of a release that leaves the house: its commands, as they are printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "a-release-that-leaves.md"


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return [shlex.split(line) for line in lines]


def test_every_command_of_the_tutorial_works_and_makes_what_it_names(
    a_process_reads: None, rwn_command: Run
) -> None:
    said = []
    for program, *arguments in commands():
        assert program == "rwn"
        code, output, words = rwn_command(*arguments)
        assert code == 0, words
        said.append(output + words)
    used = {each[1] for each in commands()}
    assert used == {"demo", "mask", "audit", "report", "verify", "ledger", "reproduce"}
    whole = "\n".join(said)
    assert "internal report written to internal-report.html; it stays in the house" in whole
    assert "nothing of the original was found in it" in whole
    assert "release.sav is release " in whole
    assert "the same file came out of the key" in whole
    assert "entry 1 added to ledger.jsonl" in whole
    assert "1 entry, each follows the one before it" in whole
    files = {path.name for path in Path().iterdir()}
    named = set(re.findall(r"`([\w.-]+\.\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named <= files
    assert files - named == {"ledger.jsonl.key", "trial.sav"}
    five = PAGE.read_text(encoding="utf-8").partition("## ")[0]
    assert five.count("   rwn ") == 5
    assert "rwn ledger add" in five.rpartition("```sh")[2]
