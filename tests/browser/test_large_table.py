"""RAND's 20,190 records: progress while the neighbors are ranked, then a page that answers."""

from __future__ import annotations

from rwn_ui import launch


def test_twenty_thousand_records_show_progress_and_then_nine_cards(app) -> None:
    app.page.goto(f"{app.server.address}/?demo=randhie")
    bar = app.page.get_by_test_id("stProgress")
    bar.wait_for()
    assert "Ranking the neighbors of 20,190 records" in bar.inner_text()
    app.page.set_default_timeout(120_000)
    app.wait_for_cards()
    assert bar.count() == 0
    assert "k = 6" in app.press("k", "ArrowRight")
    assert launch.ADDRESS in app.page.url
