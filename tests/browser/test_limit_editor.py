"""The policy in a real browser: its tile, and the editor of its limits."""

from __future__ import annotations

from typing import Any


def first(app: Any) -> Any:
    return app.page.locator(".rwn-tile").first


def label(app: Any) -> str:
    return first(app).locator(".rwn-label > span").first.inner_text()


def value(app: Any) -> str:
    return first(app).locator(".rwn-value").inner_text()


def set_limit(app: Any, title: str, number: str) -> None:
    field = app.page.get_by_role("spinbutton", name=f"{title}, % at most")
    before = app.stamp
    field.fill(number)
    field.press("Enter")
    app.wait_for_change(before)
    app.settle()


def test_the_first_tile_follows_the_limits_and_is_green_only_if_all_hold(app) -> None:
    app.open("/?epsilon=2&k=5&q=1")
    assert label(app) == "Linked over one half"
    assert value(app).endswith(", limit 1 %")
    assert first(app).get_attribute("data-state") == "over"
    app.open("/?epsilon=8.2&k=60&q=1")
    app.settle()
    app.open_more()
    app.page.get_by_test_id("stSidebar").get_by_text("Policy: limits on risk").click()
    set_limit(app, "Worst-case linkage", "20")
    assert first(app).get_attribute("data-state") == "kept", first(app).inner_text()
    assert "all 4 kept" in first(app).inner_text()
    # no other tile is green on the strength of its own number
    assert app.page.locator(".rwn-tile[data-state=kept]").count() == 1
    set_limit(app, "True matches", "0")
    assert label(app) == "True matches"
    assert first(app).get_attribute("data-state") == "over"
    set_limit(app, "True matches", "50")
    assert first(app).get_attribute("data-state") == "kept"


def test_limits_are_added_explained_and_removed_and_every_page_has_them(app) -> None:
    app.open("/")
    sidebar = app.page.get_by_test_id("stSidebar")
    app.open_more()
    sidebar.get_by_text("Policy: limits on risk").click()
    for title in ("Worst-case linkage", "Attribute gain", "True matches", "Linked over one half"):
        before = app.stamp
        sidebar.get_by_test_id("stHorizontalBlock").filter(
            has_text=f"{title}, % at most"
        ).get_by_role("button", name="✕").click()
        app.wait_for_change(before)
        app.settle()
    assert (label(app), value(app)) == ("Policy", "n/a")
    assert "no limits" in first(app).inner_text()
    app.page.get_by_role("combobox", name="Another limit on").focus()
    app.page.keyboard.type("Distance linkage")
    # until the list is cut, Enter would take its first option
    app.page.get_by_role("option", name="Worst-case linkage", exact=True).wait_for(state="detached")
    app.page.get_by_role("option", name="Distance linkage", exact=True).wait_for()
    app.page.keyboard.press("Enter")
    app.settle()
    before = app.stamp
    sidebar.get_by_role("button", name="Add this limit").click()
    app.wait_for_change(before)
    first(app).filter(has_text="Distance linkage").wait_for()  # its reading may follow
    app.settle()
    sidebar.get_by_role("button", name="Where the limits come from").click()
    field = app.page.get_by_role("textbox", name="Distance linkage: source")
    before = app.stamp
    field.fill("handbook 3.1")
    field.press("Enter")
    app.wait_for_change(before)
    assert "(handbook 3.1)" in (first(app).locator(".rwn-tip").text_content() or "")
    app.page.keyboard.press("Escape")
    app.page.get_by_role("link", name="Risk", exact=True).click()
    app.page.locator(".rwn-tile").filter(has_text="Worst case, by keys").wait_for()
    assert label(app) == "Distance linkage"
