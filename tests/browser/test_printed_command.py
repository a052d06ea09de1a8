"""The command that the browser prints draws the table on screen, as Python does."""

from __future__ import annotations

from pathlib import Path

import rwn_core as rwn

SETTING = {"epsilon": 2.5, "k": 6, "q": 0.75}
LINK = "/?epsilon=2.5&k=6&q=0.75"


def test_seed_7_gives_the_same_bytes_in_python_and_by_the_command_of_the_page(
    app, tmp_path: Path
) -> None:
    app.open(LINK)
    app.set_seed(7)
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(**SETTING), seed=7)
    assert app.printed(tmp_path) == release.to_bytes("csv")
    app.press("k", "ArrowRight")  # it follows the sliders
    moved = rwn.mask(data, rwn.RWN(**SETTING | {"k": 7}), seed=7)
    assert app.printed(tmp_path) == moved.to_bytes("csv")
