"""Release precision in a browser: by keyboard, undone, and in the file that is saved."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

import rwn_core as rwn
from rwn_cli import main
from rwn_core.data.rounding import given_steps
from tests.browser.test_trial_file import download

SLIDER = "input[aria-label='Steps for all numbers']"


def worst(app) -> float:
    """The worst case in the verdict, in percent, once all limits are read."""
    return float(app.judged().partition(" %")[0].split()[-1])


def test_steps_move_the_risk_and_are_in_the_file_of_python_and_of_the_command(
    app, tmp_path: Path
) -> None:
    app.open("/?epsilon=2&k=5&q=1")
    app.set_seed(7)
    sidebar = app.page.get_by_test_id("stSidebar")
    line = app.page.locator(".rwn-parameters")
    exact, plain = worst(app), line.inner_text()
    app.open_more()
    sidebar.get_by_text("Release precision").click()
    for _ in range(3):  # 0.5 SD
        app.press("Steps for all numbers", "ArrowRight")
        app.settle()
    app.shows("numbers rounded to about 0.5 SD")
    assert worst(app) < exact - 5
    field = app.open_cell(sidebar.get_by_test_id("stDataFrame").last, 0.75, 1)
    field.fill("20")
    field.press("Enter")
    app.shows("15 variables rounded")
    data = rwn.load_demo("bodyfat")
    precision = {**given_steps(data, 0.5), "age": 20}
    _, content = download(app, "csv")
    wanted = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), precision=precision, seed=7)
    assert content == wanted.to_bytes("csv")
    options = ("--epsilon", "2", "--k", "5", "--seed", "7", "--round", "0.5", "--round", "age=20")
    assert main.run(["mask", "demo:bodyfat", str(tmp_path / "cli.csv"), *options]) == 0
    assert content == (tmp_path / "cli.csv").read_bytes()
    app.page.keyboard.press("Escape")
    for words in ("0.5 SD", "0.25 SD", "0.1 SD"):
        app.page.get_by_role("button", name="Undo").click()
        app.shows(words)
    app.page.get_by_role("button", name="Undo").click()
    expect(line).to_have_text(plain)
    assert worst(app) == exact
    app.page.locator(f"{SLIDER}[aria-valuetext='as is']").wait_for(state="attached")
