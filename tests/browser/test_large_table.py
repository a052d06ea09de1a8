"""RAND's 20,190 records and a very large file: progress first, then a page that answers."""

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


def test_twenty_thousand_records_show_nine_cards_of_a_sample(app) -> None:
    app.page.goto(f"{app.server.address}/?demo=randhie&method=rwn")
    app.page.set_default_timeout(120_000)
    app.wait_for_cards()
    app.slider("k").press("ArrowRight")  # while a first verdict may be drawn
    app.page.locator(".rwn-summary").get_by_text("· k = 6 ·").wait_for()
    assert launch.ADDRESS in app.page.url
    worst = app.verdict.locator(".rwn-nearest")
    worst.get_by_text("%").wait_for()  # one broken limit comes with the picture, others follow
    before, told = worst.inner_text(), list[int]()

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


@pytest.mark.nightly  # tests/ui/test_large_tables cancels a preparation and shows some records
def test_a_very_large_file_is_cancelled_and_then_shown_by_some_of_its_records(app, tmp_path):
    numbers = np.random.default_rng(0).normal(size=(101_000, 8))  # some seconds to rank
    path = tmp_path / "large.parquet"
    pd.DataFrame(numbers, columns=list("abcdefgh")).to_parquet(path)
    app.open().visit("Data")
    files = app.page.locator("input[type=file]").first
    files.set_input_files(path)
    app.page.get_by_text("The pages show bodyfat until then.").wait_for()
    # while the page is drawn anew, the button of before is still there
    app.page.get_by_role("button", name="Cancel", exact=True).first.click()
    app.page.get_by_text("Cancelled; the pages show bodyfat.").wait_for()
    app.visit("Tune")
    assert "k = 6" in app.press("k", "ArrowRight")
    app.visit("Data")
    app.page.set_default_timeout(120_000)
    app.page.locator("input[type=file]").first.set_input_files(path)
    app.page.get_by_text("large.parquet · 101,000 × 8").wait_for()
    app.visit("Tune")
    app.page.get_by_text("random sample of 6,000 of 101,000 records").wait_for()
    assert "k = 6" in app.press("k", "ArrowRight")
    app.press("epsilon", "End")  # beyond the stored neighbors
    assert app.page.locator(".rwn-card").count() == 9
