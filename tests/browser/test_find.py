"""The Find page in a browser: by keyboard, on the map, cancelled, and under its old address."""

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


def begun(app) -> str:
    """Open the page, and press Find by the keyboard; return what Tune showed before."""
    app.open("/")
    app.wait_for_cards()
    shown = app.stamp
    app.page.get_by_role("link", name="Find", exact=True).press("Enter")
    find = app.page.get_by_role("button", name="Find", exact=True)
    find.focus()
    app.page.keyboard.press("Enter")
    app.page.get_by_role("button", name="Cancel").wait_for()
    expect(find).to_be_disabled()
    return shown


def test_cancel_comes_at_once_and_leaves_an_answer_that_goes_to_tune(app) -> None:
    before = app.server.children()
    before_it = begun(app)
    use = app.page.get_by_role("button", name="Use on Tune")
    use.wait_for(timeout=PATIENCE)
    asked = time.monotonic()
    app.page.get_by_role("button", name="Cancel").click()
    app.page.get_by_text("Search: Cancelled.").wait_for()
    assert time.monotonic() - asked < 5, "about half a second, and more beside other work"
    assert app.server.ends_what_began_since(before)
    app.page.get_by_role("button", name="Go on for 5 minutes").wait_for()
    use.focus()
    app.page.keyboard.press("Enter")
    app.wait_for_cards()
    assert app.stamp != before_it


def test_a_setting_is_chosen_by_key_and_on_the_map_and_the_search_goes_on_meanwhile(app) -> None:
    begun(app)
    page = app.page
    listed = page.get_by_role("radiogroup", name="Settings found")
    expect(listed.get_by_role("radio").nth(2)).to_be_attached(timeout=PATIENCE)
    page.get_by_role("link", name="Tune", exact=True).click()
    app.wait_for_cards()
    assert "k = 6" in app.press("k", "ArrowRight"), "the sliders answer meanwhile"
    page.get_by_role("link", name="Find", exact=True).click()
    page.get_by_role("button", name="Cancel").wait_for(state="detached", timeout=PATIENCE)
    listed.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(listed.get_by_role("radio").nth(1)).to_be_checked()
    app.settle()
    app.card("Risk–utility map of what was tried").locator(".rwn-plot").hover()
    app.until(f"() => ({POINTS})()?.length > 1")
    chosen = set()
    for _, x, y in page.evaluate(POINTS)[:3]:
        page.mouse.move(x - 2, y)
        page.mouse.move(x, y)
        page.locator(".hovertext").first.wait_for()
        page.mouse.click(x, y)
        app.settle()
        chosen.add(listed.locator("input:checked").get_attribute("value"))
    assert len(chosen) > 1, "each click chooses its own"
    assert page.url.partition("?")[0].endswith("/find"), "nothing is loaded"


def test_the_old_address_leads_to_the_page_with_its_setting(app) -> None:
    app.page.goto(f"{app.server.address}/sweep?k=7")
    app.page.wait_for_url("**/find?**setting=**k*7**")
    expect(app.page.get_by_role("link", name="Find", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    app.complaints.clear()  # Streamlit looks for its server below the page's address first
