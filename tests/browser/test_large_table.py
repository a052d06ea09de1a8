"""Tables of thousands of records: charts first, then verdicts; a page that answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
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

# at each frame: what the verdict says of the file, and how many of its cards are drawn
NOTE = """() => {
  window.seen = [];
  const note = () => {
    const data = document.querySelector('.rwn-panel')?.rwnPanel?.data;
    const text = document.querySelector('.rwn-judged b')?.textContent;
    const cards = [...document.querySelectorAll('.rwn-card')];
    const drawn = cards.filter((card) => Number(card.dataset.drawn) > 0).length;
    if (data?.table === 'people.csv' && text) window.seen.push([text, drawn]);
    requestAnimationFrame(note);
  };
  note();
}"""


@pytest.mark.nightly  # by day tests/ui/test_worst_case_follows reads the first picture
def test_charts_of_a_draw_are_seen_before_its_verdict(app, tmp_path) -> None:
    draw = np.random.default_rng(3)
    factor = draw.normal(size=1_500)
    frame = pd.DataFrame({f"x{i}": (factor + draw.normal(size=1_500)).round(2) for i in range(8)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    app.open("/").visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(tmp_path / "people.csv")
    app.page.evaluate(NOTE)
    app.page.get_by_role("button", name="Use these answers").click()
    app.page.get_by_role("link", name="Tune", exact=True).click()
    app.until("() => window.seen.some(([text]) => !text.startsWith('Not judged yet'))")
    seen = app.page.evaluate("window.seen")
    judged = next(at for at, (text, _) in enumerate(seen) if not text.startswith("Not judged yet"))
    assert any(drawn >= 8 for _, drawn in seen[:judged])


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
