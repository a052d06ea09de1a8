"""Prediction on a holdout: in the background, to its end or to a clean cancel."""

from __future__ import annotations

from playwright.sync_api import expect

RUN = "Predict siri at this setting"


def begin(app) -> None:
    app.page.get_by_role("button", name=RUN).click()
    app.page.get_by_role("button", name="Cancel").wait_for()


def test_it_can_be_cancelled_and_sliders_answer_until_the_table_comes(app) -> None:
    before = app.server.children()
    app.open("/").visit("Utility")
    begin(app)
    app.page.get_by_role("button", name="Cancel").click()
    app.page.get_by_text("Cancelled.").wait_for()
    assert app.server.ends_what_began_since(before)
    begin(app)
    app.visit("Tune")
    assert "k = 6" in app.press("k", "ArrowRight")
    assert "k = 7" in app.press("k", "ArrowRight")
    app.visit("Utility")
    expect(app.page.get_by_role("button", name=RUN)).to_be_disabled()
    table = app.page.get_by_test_id("stTable")
    table.wait_for(timeout=60_000)
    text = table.inner_text()
    assert "ε = 2 · k = 5 · q = 1" in text  # the setting at which it began
    assert "169 / 72" in text
    app.visit("Utility")
    expect(app.page.get_by_role("button", name=RUN)).to_be_enabled()
    assert app.server.ends_what_began_since(before)
