"""A search on Tune: its answer so far beside the sliders, Cancel, Use this, another table."""

from __future__ import annotations

import time

from playwright.sync_api import expect

FIND = "Find what keeps the policy"
PATIENCE = 150_000  # milliseconds; the search leaves the processors to everything else


def answered(app) -> None:
    """Begin a search, and wait for an answer so far."""
    app.page.get_by_role("button", name=FIND).click()
    app.page.get_by_role("button", name="Use this").wait_for(timeout=PATIENCE)


def test_cancel_comes_at_once_and_leaves_an_answer_that_can_be_used(app) -> None:
    before = app.server.children()
    app.open("/")
    answered(app)
    expect(app.page.get_by_text(" so far: ε")).to_have_count(1)
    assert "k = 6" in app.press("k", "ArrowRight"), "the sliders answer meanwhile"
    begun = time.monotonic()
    app.page.get_by_role("button", name="Cancel").click()
    app.page.get_by_text("Search: Cancelled.").wait_for()
    assert time.monotonic() - begun < 5, "about half a second, and more beside other work"
    assert app.server.ends_what_began_since(before)
    app.page.get_by_role("button", name="Use this").click()
    app.page.get_by_text("Loaded into Tune: ").wait_for()
    expect(app.page.get_by_text("so far: ")).to_have_count(0)
