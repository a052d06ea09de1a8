"""The how-to on the command line: its commands run as they are printed, and judge everything."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd

from tests.cli.conftest import Run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "use-the-command-line.md"


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


def test_every_command_of_the_page_works_in_an_empty_folder(
    a_process_reads: None, rwn_command: Run
) -> None:
    for program, *arguments in commands():
        assert program == "rwn"
        code, _, words = rwn_command(*arguments)
        assert code == 0, words
    for name in ("sweep.csv", "methods.csv"):
        swept = pd.read_csv(name)
        refused = swept[swept["not_applicable"].notna()]
        assert refused.empty, refused[["method", "measure", "not_applicable"]].to_string()
        assert "attribute_gain" in set(swept["measure"])


def test_who_reads_on_learns_which_notes_name_a_value() -> None:
    assert "notes name numbers and" in PAGE.read_text(encoding="utf-8")
