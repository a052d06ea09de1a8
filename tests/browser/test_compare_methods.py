"""Several methods on the Compare page in a browser: on one map, in one table, or cancelled."""

from __future__ import annotations

import csv
import io
import re

from playwright.sync_api import expect

from rwn_ui.compare import matching

MAP = "Risk–utility map of the methods"
CURVES = """() => document.querySelector('.rwn-live').data
  .filter((trace) => trace.mode === 'lines' && trace.name !== 'interval')
  .map((trace) => trace.name)"""
NAMES = ["RWN, the 2022 method", "Additive noise"]


def compare(app) -> None:
    app.open("/")
    app.page.get_by_role("link", name="Compare", exact=True).click()
    app.page.get_by_text("This page is for choosing.").wait_for()
    app.page.get_by_role("button", name="Match", exact=True).wait_for()


def choose(app, names: list[str]) -> None:
    """Take these methods only."""
    box = app.page.get_by_role("combobox", name=re.compile("Methods"))
    box.focus()
    for _ in range(len(matching.METHODS)):
        box.press("Backspace")
    for name in names:
        box.fill(name)
        box.press("Enter")
    box.press("Escape")
    app.settle()


def fill(app, label: str, value: str) -> None:
    field = app.page.get_by_role("spinbutton", name=label, exact=True)
    field.fill(value)
    field.press("Enter")
    app.settle()


def test_methods_have_a_curve_a_column_and_a_setting_for_tune(app) -> None:
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    compare(app)
    choose(app, NAMES)
    fill(app, "Releases", "2")
    fill(app, "At worst, %", "10")
    app.page.get_by_role("button", name="Match", exact=True).click()
    card = app.card(MAP)
    card.wait_for()
    app.settle()
    expect(card.locator(".rwn-note")).to_have_text("2 methods, each along its strength")
    card.locator(".rwn-plot").hover()
    app.page.locator(".rwn-live .main-svg").first.wait_for()
    assert app.page.evaluate(CURVES) == NAMES
    said = card.locator(".rwn-plot").get_attribute("aria-label")
    assert all(f"{name} at " in said for name in NAMES)
    section = app.page.locator(".rwn-tables section").filter(has_text="Every measure of every")
    expect(section.locator("thead th")).to_have_text(["measure", *NAMES])
    name, content = app.saved(lambda: section.get_by_role("button", name="Download").click())
    rows = list(csv.reader(io.StringIO(content.decode())))
    assert name == "matched-methods.csv"
    assert rows[0] == ["measure", *NAMES]
    linkage = next(row for row in rows if row[0].startswith("Distance linkage"))
    assert sum("★" in cell for cell in linkage) >= 1
    section.get_by_role("button", name="Copy the table").click()
    section.get_by_text("Copied").wait_for()
    copied = app.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.splitlines()[0].split("\t") == rows[0]
    app.page.get_by_text("RWN against each of the others").click()
    expect(app.page.get_by_text(re.compile("RWN, the 2022 method against"))).to_have_count(1)
    app.page.get_by_role("button", name="Open on Tune").nth(1).click()
    loaded = app.page.get_by_text(re.compile("Loaded into Tune: Additive noise")).first.inner_text()
    app.page.get_by_role("link", name="Tune", exact=True).click()
    app.wait_for_cards()
    assert app.stamp.startswith(loaded.partition(": ")[2])
