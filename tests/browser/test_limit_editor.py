"""The policy in a real browser: its verdict, and the editor of its limits."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect


def reads(app: Any, words: str, state: str = "") -> None:
    """Wait for a verdict that begins so."""
    expect(app.verdict.locator(".rwn-judged-line")).to_have_text(re.compile(f"^{words}"))
    expect(app.verdict).to_have_attribute("data-state", state)


def set_limit(app: Any, title: str, number: str) -> None:
    field = app.page.get_by_role("spinbutton", name=f"{title}, % at most")
    field.fill(number)
    field.press("Enter")
    app.settle()


def test_the_verdict_follows_the_limits_and_is_green_only_if_all_hold(app) -> None:
    app.open("/?epsilon=2&k=5&q=1")
    worst = "Not releasable: 3 of 4 limits broken; worst: Linked over one half .*, limit 1 %"
    reads(app, worst, "over")
    app.open("/?epsilon=8.2&k=60&q=1")
    app.settle()
    app.open_more()
    app.page.get_by_test_id("stSidebar").get_by_text("Policy: limits on risk").click()
    set_limit(app, "Worst-case linkage", "20")
    reads(app, "Keeps all 4 limits; nearest: ", "kept")
    # no tile is green on the strength of its own number
    assert app.page.locator(".rwn-tile[data-state=kept]").count() == 0
    set_limit(app, "True matches", "0")
    reads(app, "Not releasable: 1 of 4 limits broken; worst: True matches ", "over")
    set_limit(app, "True matches", "50")
    reads(app, "Keeps all 4 limits", "kept")


def test_limits_are_added_explained_and_removed_and_every_page_has_them(app) -> None:
    app.open("/")
    sidebar = app.page.get_by_test_id("stSidebar")
    app.open_more()
    sidebar.get_by_text("Policy: limits on risk").click()
    for title in ("Worst-case linkage", "Attribute gain", "True matches", "Linked over one half"):
        line = sidebar.get_by_test_id("stHorizontalBlock").filter(has_text=f"{title}, % at most")
        line.get_by_role("button", name="✕").click()
        line.wait_for(state="detached")
        app.settle()
    reads(app, "Not judged: the policy has no limits")
    app.page.get_by_role("combobox", name="Another limit on").focus()
    app.page.keyboard.type("Distance linkage")
    # until the list is cut, Enter would take its first option
    app.page.get_by_role("option", name="Worst-case linkage", exact=True).wait_for(state="detached")
    app.page.get_by_role("option", name="Distance linkage", exact=True).wait_for()
    app.page.keyboard.press("Enter")
    app.settle()
    sidebar.get_by_role("button", name="Add this limit").click()
    app.verdict.filter(has_text="Distance linkage").wait_for()  # its reading may follow
    app.settle()
    sidebar.get_by_role("button", name="Where the limits come from").click()
    field = app.page.get_by_role("textbox", name="Distance linkage: source")
    field.fill("handbook 3.1")
    field.press("Enter")
    expect(app.verdict.locator(".rwn-tip")).to_contain_text("(handbook 3.1)")
    app.page.keyboard.press("Escape")
    app.page.get_by_role("link", name="Risk", exact=True).click()
    app.page.locator(".rwn-tile").filter(has_text="Worst case, by keys").wait_for()
    expect(app.verdict).to_contain_text("Distance linkage")
