"""Three jobs in a browser, from opening the program to a release or to a clear no, counted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rwn_cli import main
from rwn_core.reporting import read_record
from tests.browser.app_tab import App
from tests.browser.steward import Steward
from tests.journeys import figures, files

PEOPLE = 10_000 if figures.FILE else 600
JUDGED = ".rwn-judged[data-state=kept], .rwn-judged[data-state=over]"


def opened(app: App, file: Path) -> Steward:
    """Open the program and a file in it, and answer its questions with what is guessed."""
    steward = Steward(app)
    with steward.waiting():
        app.open("/")
    steward.visit("Data")
    steward.upload(file)
    answers, layout = (
        app.page.get_by_role("button", name=name) for name in ("Use these answers", "Open it so")
    )
    steward.wait_for(answers.or_(layout))
    if layout.is_visible():
        steward.click(layout)
    steward.click(answers)
    for answer in ("Leave it out of every release", "Release it as it is"):
        asked = app.page.get_by_role("button", name=answer)
        for left in range(asked.count(), 0, -1):
            steward.click(asked.first)
            with steward.waiting():
                app.until("([name, left]) => [...document.querySelectorAll('button')]"
                          ".filter((b) => b.textContent.trim() === name).length < left",
                          [answer, left])  # fmt: skip
    return steward


def judged(steward: Steward) -> str:
    """Go to Tune and read the verdict on the setting that it begins with: kept or over."""
    steward.visit("Tune")
    line = steward.app.page.locator(JUDGED)
    steward.wait_for(line)
    return line.get_attribute("data-state") or ""


def found(steward: Steward) -> None:
    """Let a setting that keeps the policy be found; the sliders go there."""
    steward.press("Find what keeps the policy")
    steward.wait_for(steward.app.page.get_by_text("This keeps the policy"))
    steward.wait_for(steward.app.page.locator(".rwn-judged[data-state=kept]"))


def drawn(steward: Steward, folder: Path) -> None:
    """Draw the release, and read what the policy says of that very file."""
    page = steward.app.page
    steward.visit("Release")
    steward.type("New file on this machine", str(folder / "sealed.key"))
    steward.click(page.get_by_text("I have looked at every variable"))
    steward.press("Draw the release and judge it")
    steward.wait_for(page.get_by_text("SHA-256 of the file"))


def left(steward: Steward, folder: Path) -> Path:
    """Answer for the release and have its files written; their folder."""
    steward.type("Name of the person", "A. Steward")
    steward.type("Reason, where", "No meeting took place")
    steward.press("Record")
    steward.press("Make the files")
    steward.wait_for(steward.app.page.get_by_text("SHA256SUMS has"))
    steward.type("Or a folder on this machine", str(folder))
    steward.press("Write")
    steward.wait_for(steward.app.page.get_by_text("The files lie in"))
    (made,) = folder.glob("release-*")
    return made


def check_same_bytes_in_the_shell(made: Path, folder: Path, original: Path) -> None:
    """Draw the release again in the shell, from its key: the same file comes out."""
    (file,) = (made / "for-users").glob("release-*.*")
    record = read_record((made / "internal" / "internal-record.toml").read_text("utf-8"))
    again = folder / f"again{file.suffix}"
    key, out = ["--key", str(folder / "sealed.key")], ["-o", str(again)]
    assert main.run(["reproduce", str(made), *key, "--original", str(original), *out]) == 0
    sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (file, again)]
    assert sums == [record["file"]["sha256"]] * 2
    assert record["verdict"]["kept"]


def ended(job: str, steward: Steward, end: str) -> None:
    """The job is over: within its actions, and its figures are where they are asked for."""
    figures.add(job, "browser", steward.clicks, (steward.waited, steward.hands), end)
    assert steward.clicks <= 30


@pytest.mark.parametrize("job", ["clinical", "workbook"])
def test_a_small_table_leaves_with_the_policy_kept(app: App, tmp_path: Path, job: str) -> None:
    make = {"clinical": files.clinical, "workbook": files.workbook}[job]
    original = make(tmp_path / {"clinical": "clinical.csv", "workbook": "staff.xlsx"}[job])
    steward = opened(app, original)
    if judged(steward) == "over":
        found(steward)
    drawn(steward, tmp_path)
    made = left(steward, tmp_path)
    ended(job, steward, "kept")
    check_same_bytes_in_the_shell(made, tmp_path, original)


def test_the_survey_ends_with_a_no_and_what_to_do(app: App, tmp_path: Path) -> None:
    steward = opened(app, files.survey(tmp_path / "survey.sav", PEOPLE))
    assert judged(steward) == "over"
    ended("survey", steward, "a no, with next steps")
