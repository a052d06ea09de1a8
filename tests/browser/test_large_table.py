"""RAND's 20,190 records: progress first, then a page that answers."""

from __future__ import annotations

import pytest

from rwn_ui.server import launch
from rwn_ui.server.endpoint import ADDRESS

# what the verdict has shown; a busy machine may look too late for what it shows for a moment
RECORD = """() => {
  window.shown = [];
  const tile = () => document.querySelector('.rwn-judged').textContent;
  new MutationObserver(() => window.shown.push(tile())).observe(
    document.querySelector('.rwn-judged'), { childList: true, characterData: true, subtree: true });
}"""
FOLLOWED = """() => {
  // a verdict that waits for all limits, or one of some of them
  const waits = window.shown.map((text) => text.includes('to follow') || text.includes('…'));
  return waits.includes(true) && !waits.at(-1);
}"""


@pytest.mark.nightly  # tests/ui/test_files shows a sample, tests/ui/test_live_picture its cards
def test_twenty_thousand_records_show_nine_cards_of_a_sample(app) -> None:
    app.page.goto(f"{app.server.address}/?demo=randhie&method=rwn")
    app.wait_for_cards()
    app.slider("k").press("ArrowRight")  # while a first verdict may be drawn
    app.page.locator(".rwn-summary").get_by_text("· k = 6 ·").wait_for()
    assert launch.ADDRESS in app.page.url
    worst = app.verdict.locator(".rwn-nearest")
    worst.get_by_text("%").wait_for()  # one broken limit comes with the picture, others follow
    before = worst.inner_text()
    told = list[int]()

    def note(answer) -> None:
        if answer.url.endswith(ADDRESS) and '"seq"' in (answer.request.post_data or ""):
            told.append(answer.status)

    app.page.on("response", note)
    app.page.evaluate(RECORD)
    app.press("epsilon", "ArrowRight")
    app.until(FOLLOWED)
    assert worst.inner_text() != before
    assert 200 in told, "what is waited for comes beside the runs of the page"
    app.press("epsilon", "ArrowRight")
    app.settle()
    # where nothing is answered beside them, say after a run that came to no end
    app.page.route(f"**/{ADDRESS}", lambda route: route.fulfill(status=202))
    app.page.evaluate("() => { window.shown = []; }")
    app.press("epsilon", "ArrowRight")
    app.until(FOLLOWED)
    app.page.unroute(f"**/{ADDRESS}")
    assert [app.slider(name).input_value() for name in ("k", "q")] == ["6", "1"]
