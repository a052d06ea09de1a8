"""The Find page in a browser: by keyboard, on the map, and cancelled."""

from __future__ import annotations

import time

from playwright.sync_api import expect

PATIENCE = 150_000  # milliseconds; the search leaves the processors to everything else
POINTS = """() => {
  const graph = document.querySelector('.rwn-card .js-plotly-plot');
  if (!graph?._fullLayout) return null;
  const { _size: size, xaxis, yaxis } = graph._fullLayout;
  const box = graph.getBoundingClientRect();
  return graph.data.filter((t) => t.customdata).flatMap((t) => t.customdata.map((key, i) =>
    [key, box.x + size.l + xaxis.d2p(t.x[i]), box.y + size.t + yaxis.d2p(t.y[i])]));
}"""


def test_a_setting_is_found_by_keyboard_chosen_on_the_map_and_used_on_tune(app) -> None:
    before, page = app.server.children(), app.page
    app.open("/")
    shown = app.stamp
    page.get_by_role("link", name="Find", exact=True).press("Enter")
    find, cancel = (
        page.get_by_role("button", name=name, exact=True) for name in ("Find", "Cancel")
    )
    find.focus()
    page.keyboard.press("Enter")
    cancel.wait_for()
    expect(find).to_be_disabled()
    listed = page.get_by_role("radiogroup", name="Settings found")
    expect(listed.get_by_role("radio").nth(2)).to_be_attached(timeout=PATIENCE)
    page.get_by_role("link", name="Tune", exact=True).click()
    app.wait_for_cards()
    assert "k = 6" in app.press("k", "ArrowRight"), "the sliders answer meanwhile"
    page.get_by_role("link", name="Find", exact=True).click()
    if cancel.is_visible():  # else the search has come to its end
        asked = time.monotonic()
        cancel.click()
        page.get_by_text("Search: Cancelled.").wait_for()
        assert time.monotonic() - asked < 5, "about half a second, and more beside other work"
        page.get_by_role("button", name="Go on for 5 minutes").wait_for()
    assert app.server.ends_what_began_since(before)
    listed.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(listed.get_by_role("radio").nth(1)).to_be_checked()
    app.settle()
    plot = app.card("Risk–utility map of what was tried").locator(".rwn-plot")
    plot.scroll_into_view_if_needed()
    plot.hover()
    app.until(f"() => ({POINTS})()?.length > 1")
    chosen = set()
    for place in range(3):
        _, x, y = page.evaluate(POINTS)[place]  # the page may have moved since
        for near in range(40):  # Plotly looks at the pointer only now and then
            page.mouse.move(x - 2 + near % 3, y)
            page.wait_for_timeout(50)
            if page.locator(".hovertext").count():
                break
        page.mouse.click(x, y)
        app.settle()
        chosen.add(listed.locator("input:checked").get_attribute("value"))
    assert len(chosen) > 1, "each click chooses its own"
    assert page.url.partition("?")[0].endswith("/find"), "nothing is loaded"
    page.get_by_role("button", name="Use on Tune").press("Enter")
    app.wait_for_cards()
    assert app.stamp != shown
