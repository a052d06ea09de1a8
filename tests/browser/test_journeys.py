"""Three jobs in a browser, from opening the program to a release or to a clear no, counted."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rwn_cli import main
from rwn_core.reporting import read_record
from tests.browser.app_tab import App
from tests.browser.steward import Steward
from tests.journeys import files

MEASURED = os.environ.get("RWN_JOURNEYS", "")
"""A file for the figures: then the survey has its 10,000 people, otherwise 600."""
SURVEYED = 10_000 if MEASURED else 600


def write(job: str, steward: Steward, outcome: str) -> None:
    """Add the figures of a job, if they are asked for."""
    if not MEASURED:
        return
    row = (job, steward.clicks, steward.letters, steward.waited, steward.hands, outcome)
    with Path(MEASURED).open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow([f"{v:.0f}" if isinstance(v, float) else v for v in row])


def opened(app: App, file: Path) -> Steward:
    """Open the program and a file in it, and answer its questions with what is guessed."""
    steward = Steward(app)
    with steward._waiting():
        app.open("/")
    steward.visit("Data")
    steward.upload(file)
    steward.wait_for(app.page.get_by_text("Use these answers").or_(app.page.get_by_text("Open it")))
    if app.page.get_by_role("button", name="Open it so").is_visible():
        steward.press("Open it so")
    steward.press("Use these answers")
    for answer in ("Leave it out of every release", "Release it as it is"):
        while (button := app.page.get_by_role("button", name=answer)).count():
            steward.click(button.first)
    return steward


def drawn(steward: Steward, folder: Path) -> bool:
    """Draw the release; whether it keeps the policy."""
    page = steward.app.page
    steward.visit("Release")
    steward.type("New file on this machine", str(folder / "sealed.key"))
    steward.click(page.get_by_text("I have looked at every variable"))
    steward.press("Draw the release and judge it")
    steward.wait_for(page.get_by_text("SHA-256 of the file"))
    return page.get_by_text("Refused.").count() == 0


def left(steward: Steward, folder: Path) -> Path:
    """Answer for the release and have its files written; their folder."""
    steward.type("Name of the person", "A. Steward")
    steward.type("Reason, where", "No meeting: a test")
    steward.press("Record")
    steward.press("Make the files")
    steward.wait_for(steward.app.page.get_by_text("SHA256SUMS has"))
    steward.type("Or a folder on this machine", str(folder))
    steward.press("Write")
    steward.wait_for(steward.app.page.get_by_text("The files lie in"))
    (made,) = folder.glob("release-*")
    return made


def same_bytes_in_the_shell(made: Path, folder: Path, original: Path) -> None:
    """Draw the release again in the shell, from its key: the same file comes out."""
    again = folder / "again"
    given = ["--key", folder / "sealed.key", "--original", original, "-o", again]
    (file,) = (made / "for-users").glob("release-*.*")
    record = read_record((made / "internal" / "internal-record.toml").read_text("utf-8"))
    again = again.with_suffix(file.suffix)
    given[-1] = again
    assert main.run(["reproduce", str(made), *map(str, given)]) == 0
    sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (file, again)]
    assert sums == [record["file"]["sha256"]] * 2


def test_a_clinical_table_leaves_and_keeps_the_policy(app: App, tmp_path: Path) -> None:
    original = files.clinical(tmp_path / "clinical.csv")
    steward = opened(app, original)
    steward.visit("Tune")
    steward.press("Find what keeps the policy")
    steward.wait_for(app.page.get_by_text("This keeps the policy").or_(app.page.get_by_text("None of")))
    app.page.screenshot(path="/tmp/journey/shots/clin-found.png")
    kept = drawn(steward, tmp_path)
    app.page.screenshot(path="/tmp/journey/shots/clin-drawn.png", full_page=True)
    print(kept, steward.clicks, steward.waited, steward.hands)
    if kept:
        made = left(steward, tmp_path)
        same_bytes_in_the_shell(made, tmp_path, original)
    write("clinical", steward, "kept" if kept else "no")
