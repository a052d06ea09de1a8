"""The trial that the browser saves is the file that Python and the command line write."""

from __future__ import annotations

import re
from pathlib import Path

import rwn_core as rwn
from rwn_cli import main

SETTING = {"epsilon": 2.5, "k": 6, "q": 0.75}
LINK = "/?epsilon=2.5&k=6&q=0.75"


def download(app, form: str) -> tuple[str, bytes]:
    """Save the trial on screen; the popover stays open for another."""
    button = app.page.get_by_role("button", name="Download the trial")
    if not button.is_visible():
        app.open_more()
        app.page.get_by_role("button", name="Trial file").click()
    radio = app.page.get_by_role("radio", name=form)
    if not radio.is_checked():
        radio.click()
        app.settle()
    return app.saved(button.click)


def close(app) -> None:
    """Close the popover; a click that comes while it closes would go nowhere."""
    app.page.keyboard.press("Escape")
    app.page.get_by_role("button", name="Download the trial").wait_for(state="hidden")


def test_seed_7_gives_the_same_bytes_in_the_browser_in_python_and_on_the_command_line(
    app, tmp_path: Path
) -> None:
    app.open(LINK)
    app.set_seed(7)
    for form in ("csv", "parquet"):
        name, content = download(app, form)
        assert re.fullmatch(rf"trial-not-for-release-seed-7-[0-9a-f]{{16}}\.{form}", name)
        release = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(**SETTING), seed=7)
        assert content == release.to_bytes(form)
        path = tmp_path / f"release.{form}"
        options = [part for key, value in SETTING.items() for part in (f"--{key}", str(value))]
        assert main.run(["mask", "demo:bodyfat", str(path), *options, "--seed", "7"]) == 0
        assert content == path.read_bytes()
    close(app)
    app.press("k", "ArrowRight")  # the trial follows the sliders
    moved = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(**SETTING | {"k": 7}), seed=7)
    assert download(app, "csv")[1] == moved.to_bytes("csv")
