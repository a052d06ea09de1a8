"""The Utility page: its cards, and the same setting as on Tune."""

from __future__ import annotations

from playwright.sync_api import expect


def test_it_has_every_measure_and_the_setting_of_tune(opened):
    opened.page.get_by_role("link", name="Utility", exact=True).click()
    opened.card("Change of correlations").wait_for()
    opened.wait_for_cards()
    expect(opened.page.locator(".rwn-card figcaption b")).to_have_text([
        "Correlations", "Change of correlations", "Regression of siri",
        "Principal components", "Small groups", "Distribution of siri", "siri and bmi",
        "Shift of quantiles",
    ])  # fmt: skip
    table = opened.page.locator(".rwn-tables table").filter(has_text="All utility measures")
    table.get_by_role("row").nth(15).wait_for()
    assert "k = 6" in opened.press("k", "ArrowRight")
    opened.visit("Tune")
    opened.shows("ε = 2 · k = 6 · q = 1")
