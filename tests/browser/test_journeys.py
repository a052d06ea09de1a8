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
from tests.waiting import WORK_MS

PEOPLE = 10_000 if figures.FILE else 400
JUDGED = """() => {
  const line = document.querySelector('.rwn-judged'), answer = line?.querySelector('.rwn-answer');
  return ['kept', 'costly', 'over'].includes(line?.dataset.state) && answer?.textContent &&
    !answer.textContent.endsWith('follows.');
}"""
"""Whether the present setting is judged, and the quick verdict there."""
STATED = """() =>
  ['kept', 'costly', 'over'].includes(document.querySelector('.rwn-judged')?.dataset.state)"""


def opened(app: App, file: Path) -> Steward:
    """Open the program and a file in it; its questions are answered as guessed, a weight masked."""
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
        steward.wait_for(answers)
    masked = app.page.get_by_text("Mask it", exact=True)  # of a weight nothing is chosen
    if masked.is_visible():
        steward.click(masked)
    steward.click(answers)
    return steward


def judged(steward: Steward) -> str:
    """Go to Tune and read the verdict on the setting that it begins with: kept or over."""
    steward.visit("Tune")
    with steward.waiting():
        steward.app.until(JUDGED)
    return steward.app.page.locator(".rwn-judged").get_attribute("data-state") or ""


def found(steward: Steward) -> str:
    """Let a setting be found, longer where a minute is not enough, and use the best on Tune."""
    page = steward.app.page
    steward.visit("Find")
    steward.press("Find")
    longer = page.get_by_role("button", name="Go on for 5 minutes")
    use = page.get_by_role("button", name="Use on Tune")
    over = page.get_by_role("button", name="Cancel")  # as long as the search runs
    for _ in range(2):
        steward.wait_for(use)
        with steward.waiting():
            over.wait_for(state="hidden", timeout=WORK_MS)
        if page.get_by_text("the best that keeps").count() or not longer.is_visible():
            break
        steward.click(longer)
    steward.click(use)
    with steward.waiting():
        steward.app.until(STATED)
    return page.locator(".rwn-judged").get_attribute("data-state") or ""


def drawn(steward: Steward, folder: Path) -> tuple[Path, bool]:
    """Draw the release, once more if it breaks a limit; its key, and whether limits are kept."""
    page = steward.app.page
    steward.visit("Release")
    steward.click(page.get_by_role("button", name="I have looked at every variable"))
    for number, button in enumerate(("Draw the release and judge it", "Draw another release")):
        key = folder / f"sealed{number}.key"
        steward.type("New file on this machine", str(key))
        steward.press(button)
        with steward.waiting():
            app_says = page.get_by_text(f"release {number + 1} that was drawn")
            (app_says if number else page.get_by_text("SHA-256 of the file")).wait_for()
            steward.app.settle()  # until then the fields of the run before stand there, too
        if not page.get_by_text("Refused.").count():
            return key, True
    return key, False


def left(steward: Steward, folder: Path) -> Path:
    exception = steward.app.page.get_by_text("Or answer for an exception")
    if exception.count():
        steward.click(exception)
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


def check_same_bytes_in_the_shell(made: Path, key: Path, original: Path) -> None:
    (file,) = (made / "for-users").glob("release-*.*")
    record = read_record((made / "internal" / "internal-record.toml").read_text("utf-8"))
    again = key.with_name(f"again{file.suffix}")
    given = {"--key": key, "--original": original, "-o": again}
    options = [str(word) for pair in given.items() for word in pair]
    assert main.run(["reproduce", str(made), *options]) == 0
    sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (file, again)]
    assert sums == [record["file"]["sha256"]] * 2


def ended(job: str, steward: Steward, end: str) -> None:
    """The job is over: within its actions, and its figures are where they are asked for."""
    figures.add(job, "browser", steward.clicks, (steward.waited, steward.hands), end)
    assert steward.clicks <= 30


@pytest.mark.parametrize("job", ["clinical", "workbook"])
@pytest.mark.nightly  # test_pages_beside_tune draws a release and its file again, step by step
def test_a_small_table_leaves_and_the_shell_draws_the_same_bytes(app, tmp_path, job) -> None:
    make = {"clinical": files.clinical, "workbook": files.workbook}[job]
    original = make(tmp_path / {"clinical": "clinical.csv", "workbook": "staff.xlsx"}[job])
    steward = opened(app, original)
    if judged(steward) == "over":
        found(steward)
    key, kept = drawn(steward, tmp_path)
    made = left(steward, tmp_path)
    ended(job, steward, "limits kept" if kept else "an exception")
    check_same_bytes_in_the_shell(made, key, original)


@pytest.mark.nightly  # tests/journeys walks it in the shell, tests/ui/test_searches on the page
def test_the_survey_ends_with_a_no_and_what_to_do(app: App, tmp_path: Path) -> None:
    steward = opened(app, files.survey(tmp_path / "survey.sav", PEOPLE))
    assert judged(steward) == "over"
    # a busy machine may not read a release within the seconds of a quick answer; never "can"
    answer = app.page.locator(".rwn-answer").text_content()
    assert answer.startswith(("No strength", "Whether any strength keeps")), answer
    steward.click(app.page.get_by_text("What to try"))
    app.page.locator(".rwn-steps button").first.wait_for(timeout=WORK_MS)
    ended("survey", steward, "a no, and what to try")
