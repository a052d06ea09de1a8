"""A phone: the sliders of Tune are a sheet below the chart that they move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.app_tab import App

WIDTH, HEIGHT = 390, 844
# whether the whole of an element lies in the window, and nothing over its corners and its middle
IN_VIEW = """(node) => {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false;
  const places = [[left + 4, top + 4], [right - 4, bottom - 4],
                  [(left + right) / 2, (top + bottom) / 2]];
  return places.every(([x, y]) => node.contains(document.elementFromPoint(x, y)));
}"""
PIXELS = "() => document.querySelector('.rwn-card canvas').toDataURL()"


@pytest.fixture
def phone(opened: App) -> Iterator[App]:
    opened.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    yield opened
    opened.page.set_viewport_size({"width": 1440, "height": 900})


def test_a_slider_of_the_sheet_moves_the_chart_above_it_and_both_are_in_view(phone: App) -> None:
    page = phone.page
    chart = page.locator(".rwn-card").first.locator(".rwn-plot")
    sheet = page.locator(".rwn-sheet")
    sliders = sheet.get_by_role("slider")
    expect(sliders).to_have_count(0)
    opener = sheet.get_by_role("button", name="Sliders", exact=True)
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.press("Enter")
    closer = sheet.get_by_role("button", name="Close the sliders")
    expect(closer).to_have_attribute("aria-expanded", "true")
    assert sheet.bounding_box()["height"] <= HEIGHT / 2
    for key in ("End", "Home"):  # by keyboard, from the button on
        closer.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(closer).to_be_focused()
        slider = sheet.get_by_role("slider", name="Minimum neighbors k")
        phone.until(f"() => ({IN_VIEW})(document.querySelector('.rwn-card .rwn-plot'))")
        before = page.evaluate(PIXELS)
        stamp = phone.stamp
        slider.press(key)
        phone.wait_for_change(stamp)
        phone.until(f"before => ({PIXELS})() !== before", before)
        assert slider.evaluate(IN_VIEW)
        assert chart.evaluate(IN_VIEW)
        verdict = page.locator(".rwn-judged-line b")
        assert verdict.evaluate(IN_VIEW), "what the move has led to is in view, too"
    # a sheet that is too tall would be seen
    tall = page.add_style_tag(content=".rwn-sheet.rwn-sheet { max-height: none; height: 80vh }")
    assert not chart.evaluate(IN_VIEW)
    tall.evaluate("node => node.remove()")
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    expect(sliders).to_have_count(0)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(sheet).to_be_hidden()
