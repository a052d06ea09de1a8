"""The policy in a real browser: its verdict, and the editor of its limits."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect


def reads(app: Any, words: str, state: str = "", worst: str = "") -> None:
    """Wait for a verdict that begins so, and for what its second line begins with."""
    expect(app.verdict.locator(".rwn-judged-line")).to_have_text(re.compile(f"^{words}"))
    expect(app.verdict.locator(".rwn-nearest")).to_have_text(re.compile(f"^{worst}"))
    expect(app.verdict).to_have_attribute("data-state", state)


def set_limit(app: Any, title: str, number: str) -> None:
    field = app.page.get_by_role("spinbutton", name=re.compile(f"^{title}, (%|records) at most"))
    field.fill(number)
    field.press("Enter")
    app.settle()


def test_the_verdict_follows_limits_that_are_changed_removed_and_added(app) -> None:
    app.open("/?epsilon=8.2&k=60&q=1")
    sidebar = app.page.get_by_test_id("stSidebar")
    app.open_more()
    sidebar.get_by_text("Policy: limits on risk").click()
    set_limit(app, "Worst-case linkage", "20")
    reads(app, "Not releasable: 1 of 4 limits broken", "over", "Worst: Linked over one half ")
    set_limit(app, "Linked over one half", "3")  # of its own it lets nobody be linked
    reads(app, "Keeps all 4 limits", "kept", "Nearest: ")
    # no tile is green on the strength of its own number
    assert app.page.locator(".rwn-tile[data-state=kept]").count() == 0
    set_limit(app, "True matches", "0")
    reads(app, "Not releasable: 1 of 4 limits broken", "over", "Worst: True matches ")
    for title in ("Worst-case linkage", "Attribute gain", "True matches", "Linked over one half"):
        line = sidebar.get_by_test_id("stHorizontalBlock").filter(
            has_text=re.compile(f"{title}, (%|records) at most")
        )
        line.get_by_role("button", name="✕").click()
        line.wait_for(state="detached")
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
