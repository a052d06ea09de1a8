"""Weights that are typed: the charts follow; nonsense leaves the last good ones."""

from __future__ import annotations

import re
from pathlib import Path

TABLE = "a,b\n" + "\n".join(f"{i * 37 % 41},{i * i % 43}" for i in range(41))


def edit(app, name: str, text: str) -> None:
    """Type another weight."""
    field = app.page.get_by_role("spinbutton", name=re.compile(rf"^\d+ · {name}, typed$"))
    field.fill(text)
    field.press("Enter")


def open_weights(app) -> None:
    app.page.get_by_test_id("stSidebar").get_by_text("Variable weights").click()


def changed_values(app, old: list[str]) -> list[str]:
    """The tiles, once they show something else."""
    app.until(
        "old => String([...document.querySelectorAll('.rwn-value')].map(v => v.innerText)) !== old",
        ",".join(old),
    )
    return app.values()


def test_a_weight_typed_in_changes_the_charts_and_survives_another_page(app) -> None:
    app.open("/")
    tiles = app.values()
    open_weights(app)
    edit(app, "age", "5")
    changed = changed_values(app, tiles)
    assert app.stamp.startswith("ε = 2 · k = 5 · q = 1")
    app.visit("Data").visit("Tune")
    assert app.values() == changed


def test_all_weights_zero_is_a_sentence_and_the_last_good_charts_stay(app, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text(TABLE, encoding="utf-8")
    app.open("/").visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(path)
    app.page.get_by_text("two.csv · 41 × 2").wait_for()
    app.visit("Tune")
    tiles = app.values()
    open_weights(app)
    edit(app, "a", "0")
    kept = changed_values(app, tiles)
    edit(app, "b", "0")
    (message,) = app.messages()
    assert message == ("The weights are 0 for every variable; give at least one a positive weight.")
    assert app.values() == kept
    assert app.page.locator(".rwn-card").count() == 9
    assert app.page.get_by_role("button", name="Pin A").is_visible()
    assert "k = 6" in app.press("k", "ArrowRight")
    app.page.get_by_test_id("stAlertContentError").wait_for(state="detached")
