"""Prediction on a holdout: in the background, to its end or to a clean cancel."""

from __future__ import annotations

import time

RUN = "Predict siri at this setting"


def begin(app) -> None:
    app.open("/")
    app.page.get_by_role("button", name=RUN).click()
    app.page.get_by_role("button", name="Cancel").wait_for()


def wait_for_children(app, count: int) -> None:
    end = time.monotonic() + 20
    while len(app.server.children()) > count and time.monotonic() < end:
        time.sleep(0.1)
    assert len(app.server.children()) <= count  # others may have ended, too


def test_sliders_answer_while_the_forests_grow_and_the_table_comes(app) -> None:
    before = len(app.server.children())
    begin(app)
    assert "k = 6" in app.press("k", "ArrowRight")
    assert "k = 7" in app.press("k", "ArrowRight")
    assert app.page.get_by_role("button", name=RUN).is_disabled()
    table = app.page.get_by_test_id("stTable")
    table.wait_for(timeout=60_000)
    text = table.inner_text()
    assert "ε = 2 · k = 5 · q = 1" in text  # the setting at which it began
    assert "169 / 72" in text
    app.page.get_by_role("button", name=RUN).wait_for()
    assert app.page.get_by_role("button", name=RUN).is_enabled()
    wait_for_children(app, before)


def test_cancel_leaves_no_process(app) -> None:
    before = len(app.server.children())
    begin(app)
    assert len(app.server.children()) > before
    app.page.get_by_role("button", name="Cancel").click()
    app.page.get_by_text("Cancelled.").wait_for()
    wait_for_children(app, before)
    assert "k = 6" in app.press("k", "ArrowRight")


def test_another_table_ends_the_work_and_takes_its_result_away(app) -> None:
    before = len(app.server.children())
    begin(app)
    app.visit("Data")
    app.page.get_by_role("combobox").first.click()
    app.page.get_by_role("option", name="pima").click()
    app.page.get_by_text("pima · 768 × 9").wait_for()
    wait_for_children(app, before)
    app.visit("Tune")
    assert app.page.get_by_role("button", name="Cancel").count() == 0
    assert app.page.get_by_test_id("stTable").count() == 0
