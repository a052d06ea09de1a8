"""Release precision in a browser: by keyboard, undone, and in the file that is saved."""

from __future__ import annotations

from pathlib import Path

import rwn_core as rwn
from rwn_cli import main
from rwn_core.data.rounding import given_steps
from tests.browser.test_trial_file import download

SLIDER = "input[aria-label='Steps for all numbers']"


def worst(app) -> float:
    """The worst case in the verdict, in percent."""
    text = app.verdict.locator(".rwn-judged-line").inner_text()
    return float(text.partition(" %")[0].split()[-1])


def test_steps_move_the_risk_and_are_in_the_file_of_python_and_of_the_command(
    app, tmp_path: Path
) -> None:
    app.open("/?epsilon=2&k=5&q=1")
    app.set_seed(7)
    sidebar = app.page.get_by_test_id("stSidebar")
    exact = worst(app)
    app.open_more()
    sidebar.get_by_text("Release precision").click()
    for _ in range(3):  # 0.5 SD
        before = app.stamp
        app.page.get_by_role("slider", name="Steps for all numbers").press("ArrowRight")
        app.wait_for_change(before)
        app.settle()
    assert "numbers rounded to about 0.5 SD" in app.stamp
    assert worst(app) < exact - 5
    before = app.stamp
    field = app.open_cell(sidebar.get_by_test_id("stDataFrame").last, 0.75, 1)
    field.fill("20")
    field.press("Enter")
    assert "15 variables rounded" in app.wait_for_change(before)
    data = rwn.load_demo("bodyfat")
    precision = {**given_steps(data, 0.5), "age": 20}
    _, content = download(app, "csv")
    wanted = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), precision=precision, seed=7)
    assert content == wanted.to_bytes("csv")
    options = ("--epsilon", "2", "--k", "5", "--seed", "7", "--round", "0.5", "--round", "age=20")
    assert main.run(["mask", "demo:bodyfat", str(tmp_path / "cli.csv"), *options]) == 0
    assert content == (tmp_path / "cli.csv").read_bytes()
    app.page.keyboard.press("Escape")
    for words in ("0.5 SD", "0.25 SD", "0.1 SD", "q = 1 "):
        before = app.stamp
        app.page.get_by_role("button", name="Undo").click()
        assert words in app.wait_for_change(before)
    assert worst(app) == exact
    app.page.locator(f"{SLIDER}[aria-valuetext='as is']").wait_for(state="attached")
