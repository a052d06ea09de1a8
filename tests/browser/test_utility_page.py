"""The Utility page: the same setting as on Tune, another pair, and a registered analysis."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.fixture
def utility(opened):
    """The page in a tab that the tests share."""
    app = opened
    app.page.get_by_role("link", name="Utility", exact=True).click()
    app.card("Change of correlations").wait_for()
    app.wait_for_cards()
    return app


def test_eight_cards_and_every_measure(utility):
    expect(utility.page.locator(".rwn-card figcaption b")).to_have_text([
        "Correlations", "Change of correlations", "Regression of siri",
        "Principal components", "Small groups", "Distribution of siri", "siri and bmi",
        "Shift of quantiles",
    ])  # fmt: skip
    table = utility.page.locator(".rwn-tables table").filter(has_text="All utility measures")
    table.get_by_role("row").nth(15).wait_for()


def test_a_setting_moved_here_is_that_of_the_tune_page(utility):
    assert "k = 6" in utility.press("k", "ArrowRight")
    utility.visit("Tune")
    utility.shows("ε = 2 · k = 6 · q = 1")
    assert "k = 5" in utility.press("k", "ArrowLeft")


def test_another_pair_of_variables(utility):
    before = utility.stamp
    utility.page.get_by_role("combobox").nth(1).click()
    utility.page.get_by_role("option", name="wrist").click()
    utility.wait_for_change(before)
    utility.card("siri and wrist").wait_for()


def test_a_registered_analysis_passes_or_fails(utility):
    utility.page.get_by_text("Analysis plan: register").click()
    utility.settle()  # while it opens, its buttons are on their way
    utility.page.get_by_role("button", name="Suggest").click()
    utility.tile("Analysis plan").wait_for()
    table = utility.page.locator(".rwn-tables table").filter(has_text="the registered analyses")
    expect(table).to_contain_text("Regression of siri")
    utility.page.get_by_role("tab", name="Text").click()
    area = utility.page.get_by_role("textbox", name="Analyses")
    area.fill("[[analysis]]\nname = 'x'")
    area.press("Control+Enter")
    utility.page.get_by_text("has no kind; state it").wait_for()
