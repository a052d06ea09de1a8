"""The Utility page: the same setting as on Tune, draws and standard errors in the background."""

from __future__ import annotations

import time

import pytest

DRAWS = "Draw 25 releases of this setting"


@pytest.fixture
def utility(app):
    app.open("/")
    app.page.get_by_role("link", name="Utility", exact=True).click()
    app.card("Change of correlations").wait_for()
    app.wait_for_cards()
    return app


def wait_for_children(app, count: int) -> None:
    end = time.monotonic() + 20
    while len(app.server.children()) > count and time.monotonic() < end:
        time.sleep(0.1)
    assert len(app.server.children()) <= count  # others may have ended, too


def test_nine_cards_and_every_measure(utility):
    titles = utility.page.locator(".rwn-card figcaption b").all_inner_texts()
    assert titles == [
        "Correlations", "Change of correlations", "Expected loss over ε", "Regression of siri",
        "Principal components", "Small groups", "Distribution of siri", "siri and bmi",
        "Shift of quantiles",
    ]  # fmt: skip
    table = utility.page.locator(".rwn-tables table").filter(has_text="All utility measures")
    assert table.get_by_role("row").count() > 15


def test_a_setting_moved_here_is_that_of_the_tune_page(utility):
    assert "k = 6" in utility.press("k", "ArrowRight")
    utility.visit("Tune")
    utility.page.wait_for_function(
        "() => document.querySelector('[data-stamp]')?.dataset.stamp.includes('k = 6')"
    )
    assert "ε = 2 · k = 6 · q = 1" in utility.stamp


def test_another_pair_of_variables(utility):
    before = utility.stamp
    utility.page.get_by_role("combobox").nth(1).click()
    utility.page.get_by_role("option", name="wrist").click()
    utility.wait_for_change(before)
    utility.card("siri and wrist").wait_for()


def test_draws_come_with_progress_and_reach_the_tune_page(utility):
    before = len(utility.server.children())
    utility.page.get_by_role("button", name=DRAWS).click()
    utility.page.get_by_role("button", name="Cancel").wait_for()
    utility.tile("Interval overlap").get_by_text("9 of 10 draws").wait_for(timeout=90_000)
    wait_for_children(utility, before)
    utility.visit("Tune")
    verdict = utility.tile("Max Mahalanobis").locator(".rwn-verdict")
    assert verdict.inner_text().startswith("draws")


def test_cancel_leaves_no_process(utility):
    before = len(utility.server.children())
    utility.page.get_by_role("button", name="Check the standard errors").click()
    utility.page.get_by_role("button", name="Cancel").click()
    utility.page.get_by_text("q = 1: Cancelled.").wait_for()
    wait_for_children(utility, before)


def test_a_registered_analysis_passes_or_fails(utility):
    utility.page.get_by_text("Day pass: register").click()
    utility.page.get_by_role("button", name="Suggest").click()
    utility.tile("Day pass").wait_for()
    table = utility.page.locator(".rwn-tables table").filter(has_text="the registered analyses")
    assert "Regression of siri" in table.inner_text()
    area = utility.page.get_by_role("textbox", name="Analyses")
    area.fill("[[analysis]]\nname = 'x'")
    area.press("Control+Enter")
    assert "needs a name, a kind and a tolerance" in utility.messages()[0]
