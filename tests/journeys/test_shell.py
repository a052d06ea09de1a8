"""The three jobs in the shell: the commands of the page, as they are printed."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from rwn_cli import main
from rwn_core.reporting import read_record
from tests.browser.steward import CLICK, LETTER
from tests.journeys import figures, files

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "journeys.md"
PEOPLE = 10_000 if figures.FILE else 400


def commands(heading: str) -> list[list[str]]:
    part = PAGE.read_text(encoding="utf-8").partition(f"## {heading}")[2]
    block = re.search(r"```sh\n(.*?)```", part, flags=re.DOTALL)
    assert block
    return [shlex.split(line) for line in block[1].splitlines()]


def walked(job: str, heading: str, capsys: Any) -> tuple[str, dict[str, str]]:
    """Run the commands; what they said, and the verdict on what was released."""
    words, waited, typed = "", 0.0, 0
    for program, *arguments in commands(heading):
        assert program == "rwn"
        began = time.monotonic()
        code = main.run(arguments)
        waited += time.monotonic() - began
        typed += len(shlex.join(arguments)) + 5
        output, said = capsys.readouterr()
        assert code == 0, said
        words += output + said
    verdict = read_record(Path("record.toml").read_text("utf-8"))["verdict"]
    assert verdict["words"] in words
    hands = CLICK * len(commands(heading)) + LETTER * typed
    end = "limits kept" if verdict["kept"] else "a no, and what to try"
    figures.add(job, "shell", len(commands(heading)), (waited, hands), end)
    return words, verdict


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.nightly  # three minutes; tests/core/tuning/test_recommend.py presses what a no offers
def test_the_survey_ends_with_a_no_that_says_what_to_do(capsys) -> None:
    files.survey(Path("survey.sav"), PEOPLE)
    words, verdict = walked("survey", "The survey", capsys)
    # a slow machine may not read the table in time: that is a no as well, and the next word differs
    assert re.search(r"^why: .*none (keeps the policy|was tried on all)", words, re.M)
    assert "try: " in words
    # of few people the strongest start is near a limit: luck decides
    assert not verdict["kept"] or max(verdict["shares"].values()) > 0.9
    for line in ("household or cluster: hid", "stands for: dweight", "persnr looks like numbers"):
        assert line in words


@pytest.mark.nightly  # a minute of search; tests/browser draws its file again
def test_the_clinical_table_leaves_and_is_drawn_again(capsys) -> None:
    files.clinical(Path("clinical.csv"))
    words, _ = walked("clinical", "The clinical table", capsys)
    assert "the same file came out of the key" in words


@pytest.mark.nightly  # it searches; tests/cli/test_main describes the same workbook
def test_the_workbook_says_how_it_is_to_be_read(capsys) -> None:
    files.workbook(Path("staff.xlsx"))
    assert main.run(["describe", "staff.xlsx"]) == 3
    said = capsys.readouterr().err
    first = PAGE.read_text(encoding="utf-8").partition("rwn describe staff.xlsx -o staff.toml ")[2]
    assert f"give {first.splitlines()[0]}" in said
    walked("workbook", "The workbook", capsys)
