"""Weights that are typed: the charts follow."""

from __future__ import annotations

import re


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
