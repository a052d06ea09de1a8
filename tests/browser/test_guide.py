"""Each page explains itself, by keyboard too."""

from __future__ import annotations


def test_a_page_explains_itself_by_keyboard(app) -> None:
    app.open("/")
    opener = app.page.get_by_role("button", name="What am I looking at?")
    opener.press("Enter")
    for words in (
        "One masked copy of your table compared",
        "Move a slider.",
        "Where to go from here.",
    ):
        app.page.get_by_text(words).wait_for()
    app.page.keyboard.press("Escape")
    app.page.get_by_text("Move a slider.").wait_for(state="hidden")
    app.page.get_by_role("link", name="Learn", exact=True).click()
    app.page.get_by_role("heading", name="What is disclosure?").wait_for()
    opener.click()
    app.page.get_by_text("Nine lessons").wait_for()
    app.page.get_by_text("Move a slider.").wait_for(state="hidden")
    assert app.complaints == []
