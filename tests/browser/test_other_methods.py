"""Another method in a real browser: its own sliders, nine cards, and the command line's bytes."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from rwn_cli import main
from tests.browser.test_trial_file import download


def test_the_2015_method_moves_all_nine_cards_and_saves_the_bytes_of_the_command(
    app, tmp_path: Path
) -> None:
    app.open("/?epsilon=3&q=1")
    sidebar = app.page.get_by_test_id("stSidebar")
    sidebar.get_by_role("combobox", name="Method").click()
    app.page.get_by_role("option", name="The 2015 method").click()
    app.page.get_by_text("The 2015 method · ε = 3 · q = 1 · seed 1").first.wait_for()
    app.settle()
    expect(sidebar.get_by_role("slider")).to_have_count(2)  # a radius, a share, and no k
    expect(app.page.locator(".rwn-card")).to_have_count(9)
    titles = app.page.locator(".rwn-card figcaption b").all_inner_texts()
    for name, key, words, same in (
        ("epsilon", "ArrowRight", "The 2015 method · ε = 3.1 · q = 1", []),
        ("q", "ArrowLeft", "The 2015 method · ε = 3.1 · q = 0.95", ["Neighborhood size"]),
    ):
        before = app.drawn
        assert words in app.press(name, key)
        least = [0 if title in same else count for title, count in zip(titles, before, strict=True)]
        app.wait_for_cards(beyond=least)  # no neighborhood depends on q
        assert words in app.page.locator(".rwn-parameters").inner_text()
    app.set_seed(7)
    _, content = download(app, "csv")
    out = tmp_path / "release.csv"
    options = ["--set", "epsilon=3.1", "--set", "q=0.95", "--seed", "7"]
    assert main.run(["mask", "demo:bodyfat", str(out), "--method", "nbrs2015", *options]) == 0
    assert content == out.read_bytes()
