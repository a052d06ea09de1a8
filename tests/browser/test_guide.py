"""The tour of a first visit, and what each page says of itself, by keyboard."""

from __future__ import annotations

from tests.browser.app_tab import App

OUTLINED = "() => document.querySelector('[data-rwn-shown]')?.className ?? ''"


def test_a_first_visit_is_shown_around_by_keyboard_and_a_second_is_not(chromium, server):
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    try:
        app = App(context.new_page(), server)
        app.open("/")
        box = app.page.get_by_role("dialog")
        box.get_by_role("button", name="Next").wait_for()
        seen = []
        for step in range(1, 6):
            box.get_by_role("heading", name=f"{step} of 5").wait_for()
            seen.append(app.page.evaluate(OUTLINED))
            app.page.keyboard.press("ArrowRight")
        assert "rwn-summary" in seen[0]
        assert "rwn-sliders" in seen[1]
        assert "rwn-tiles" in seen[2]
        assert "rwn-grid" in seen[3]
        app.page.keyboard.press("Enter")  # Done
        box.wait_for(state="hidden")
        assert app.page.evaluate(OUTLINED) == ""
        app.open("/")
        app.page.wait_for_timeout(1000)
        assert not box.is_visible()
        opener = app.page.get_by_role("button", name="What am I looking at?")
        opener.press("Enter")
        box.get_by_text("One masked copy of your table").wait_for()
        app.page.keyboard.press("Escape")
        box.wait_for(state="hidden")
        assert opener.evaluate("node => node === document.activeElement")
        app.page.get_by_role("link", name="Learn", exact=True).click()
        app.page.get_by_role("heading", name="The theorem").wait_for()
        opener.click()
        box.get_by_text("Six lessons").wait_for()
        assert box.get_by_role("button").all_inner_texts() == ["Close"]
        assert app.complaints == []
    finally:
        context.close()
