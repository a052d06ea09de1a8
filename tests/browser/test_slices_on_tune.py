"""Variables that travel together in a browser: live, undone, and in the file that is saved."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

import rwn_core as rwn
from rwn_cli import main
from rwn_core.tuning.slice_presets import preset_slices
from tests.browser.test_trial_file import close, download

LABEL = "Variables that travel together"


def choose(app, title: str) -> str:
    """Take a choice; what the panel then says."""
    before = app.stamp
    app.pick(app.page.get_by_test_id("stSidebar").get_by_role("combobox", name=LABEL), title)
    words = app.wait_for_change(before)
    app.settle()
    return words


def test_slices_move_the_cards_and_are_in_the_file_of_python_and_of_the_command(
    app, tmp_path: Path
) -> None:
    app.open("/?epsilon=6&k=5&q=1")
    app.set_seed(7)
    assert "travel together" not in app.stamp
    line = app.page.locator(".rwn-parameters")
    alone, plain = app.judged(), line.inner_text()
    assert "Linked over one half" in alone
    words = choose(app, "Keys together | rest")
    assert "abdomen + ankle + 10 more travel together, age + height + weight" in words
    expect(app.verdict).to_contain_text("True matches")  # another limit is the first to break
    sidebar = app.page.get_by_test_id("stSidebar")
    sidebar.get_by_text("A row shows age, height and weight of one person verbatim").wait_for()
    app.page.wait_for_url("**slices***")  # a moment after the last move
    data = rwn.load_demo("bodyfat")
    slices = preset_slices(data, "keys_together")
    _, content = download(app, "csv")
    wanted = rwn.mask(data.with_slices(slices), rwn.RWN(epsilon=6.0, k=5), seed=7)
    assert content == wanted.to_bytes("csv")
    options = ["--epsilon", "6", "--k", "5", "--seed", "7"]
    options += [part for names in slices for part in ("--slice", ",".join(names))]
    assert main.run(["mask", "demo:bodyfat", str(tmp_path / "cli.csv"), *options]) == 0
    assert content == (tmp_path / "cli.csv").read_bytes()
    close(app)
    assert "+ 12 more" not in choose(app, "By correlation, 3 slices")
    app.page.get_by_role("button", name="Undo").click()
    app.shows("abdomen + ankle + 10 more")
    app.page.get_by_role("button", name="Undo").click()
    expect(line).to_have_text(plain)
    assert app.judged() == alone
