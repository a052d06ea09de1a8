"""The regression of a table of one's own is chosen on its card."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def test_a_regression_is_chosen_on_the_card_that_shows_it(app, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    numbers = np.random.default_rng(0).normal(size=(60, 3)).round(3)
    pd.DataFrame(numbers, columns=["income", "rent", "age"]).to_csv(path, index=False)
    app.open().visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(path)
    app.page.get_by_text("own.csv · 60 × 3").wait_for()
    app.visit("Tune")
    form = app.page.locator(".rwn-card .rwn-ask")
    fit = form.get_by_role("button", name="Fit")
    assert fit.is_disabled()  # nothing explains it as yet
    form.get_by_role("combobox", name="Response").select_option("rent")
    assert form.get_by_role("checkbox", name="rent").is_disabled()
    form.get_by_role("checkbox", name="age").check()
    fit.click()
    app.card("Regression of rent").wait_for()
    form.wait_for(state="hidden")
    app.card("Cook").locator(".rwn-note").get_by_text("max").wait_for()
    # another one is chosen in its full view
    app.card("Regression of rent").get_by_role("button").click()
    again = app.page.locator(".rwn-view .rwn-ask")
    assert again.get_by_role("combobox", name="Response").input_value() == "rent"
    assert again.get_by_role("checkbox", name="age").is_checked()
    again.get_by_role("combobox", name="Response").select_option("income")
    again.get_by_role("button", name="Fit").click()
    app.page.locator(".rwn-view h2", has_text="Regression of income").wait_for()
    app.page.keyboard.press("Escape")
    app.card("Regression of income").wait_for()
