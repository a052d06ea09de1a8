"""A card under the pointer and in full size: zoom, picture, table, exports, focus."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.ui.following import CARDS_OF_TUNE

RANGES = """(plot) => {
  const { xaxis, yaxis } = plot.querySelector('.rwn-live').layout;
  return [...xaxis.range, ...yaxis.range];
}"""
# from the last button the focus may go to the browser's own bar, which is the body to a page
INSIDE = """() => document.activeElement === document.body
  || Boolean(document.activeElement.closest('dialog'))"""
STATED = """(title) => {
  const { cards } = document.querySelector(".rwn-panel").rwnPanel;
  const chart = JSON.parse(cards.find((card) => card.title.textContent.startsWith(title)).text);
  return [chart.layout.xaxis.ticktext, chart.layout.yaxis.ticktext];
}"""


def point(app, title: str) -> tuple[float, float, float, float]:
    """Move the pointer onto a card and wait until Plotly has taken over; the chart's box."""
    plot = app.card(title).locator(".rwn-plot")
    box = plot.bounding_box()
    app.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    plot.locator(".rwn-live .nsewdrag").first.wait_for()
    return box["x"], box["y"], box["width"], box["height"]


def drag(app, box: tuple[float, float, float, float]) -> None:
    x, y, width, height = box
    app.page.mouse.move(x + 0.35 * width, y + 0.25 * height)
    app.page.mouse.down()
    app.page.mouse.move(x + 0.5 * width, y + 0.5 * height, steps=4)
    app.page.mouse.move(x + 0.7 * width, y + 0.7 * height, steps=4)
    app.page.mouse.up()


def test_the_pointer_changes_no_ticks_and_a_zoomed_chart_stays_zoomed(opened) -> None:
    app = opened
    for title in ("Cook", "Distribution"):
        card = app.card(title)
        point(app, title)
        for axis, stated in zip("xy", app.page.evaluate(STATED, title), strict=True):
            assert card.locator(f".{axis}tick text").all_text_contents() == stated
    app.page.mouse.move(5, 5)
    app.until("() => !document.querySelector('.rwn-live')")
    title = "Regression of siri"  # bars whose names take room
    box = point(app, title)
    plot = app.card(title).locator(".rwn-plot")
    whole = plot.evaluate(RANGES)
    drag(app, box)
    app.until(
        f"([title, whole]) => {{ const live = document.querySelector('.rwn-live');"
        f" return String(({RANGES})(live.parentElement)) !== String(whole); }}",
        [title, whole],
    )
    zoomed = plot.evaluate(RANGES)
    plot.evaluate("(plot) => plot.querySelector('.rwn-live').mine = true")
    app.press("k", "ArrowRight")
    app.page.mouse.move(5, 5)
    app.press("epsilon", "ArrowRight")
    assert plot.evaluate(RANGES) == zoomed
    assert plot.evaluate("(plot) => plot.querySelector('.rwn-live').mine") is True
    app.page.mouse.dblclick(box[0] + box[2] / 2, box[1] + box[3] / 2)
    app.page.mouse.move(5, 5)
    plot.locator(".rwn-live").wait_for(state="detached")
    point(app, title)
    again = plot.evaluate(RANGES)
    assert again[0] < zoomed[0] < zoomed[1] < again[1]


def test_every_card_has_a_full_view_that_the_keyboard_opens_and_closes(opened) -> None:
    app = opened
    heads = app.page.locator(".rwn-card figcaption b").all_inner_texts()
    assert len(heads) == CARDS_OF_TUNE
    for title in (each.partition(" (")[0] for each in heads):
        app.card(title).get_by_role("button").click()
        view = app.page.locator("dialog[open]")
        view.locator(".main-svg").first.wait_for()
        check_view(app, view, title)
        app.page.keyboard.press("Escape")
    button = app.card("Cook’s distance").get_by_role("button")
    button.focus()
    for leave in ("Escape", "Enter"):
        app.page.keyboard.press("Enter")
        view = app.page.locator("dialog[open]")
        view.locator(".main-svg").first.wait_for()
        for _ in range(4):  # the keyboard stays inside
            app.page.keyboard.press("Tab")
            assert app.page.evaluate(INSIDE)
        if leave == "Enter":
            view.get_by_role("button", name="Close").focus()
        app.page.keyboard.press(leave)
        view.wait_for(state="hidden")
        label = app.page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        assert label == "Full view: Cook’s distance"
    button.click()
    view.locator(".main-svg").first.wait_for()
    app.page.evaluate("""() => {
      document.querySelector("dialog[open]").close();
      document.querySelector("[aria-label='Full view: Correlations']").click();
    }""")
    view.locator("h2").get_by_text("Correlations").wait_for()
    view.locator(".main-svg").first.wait_for()
    app.page.keyboard.press("Escape")
    view.wait_for(state="detached")


def check_view(app, view, title: str) -> None:
    assert re.match(title, view.locator("h2").inner_text())
    assert view.locator(".rwn-view-plot").bounding_box()["height"] > 240
    check_table(app, view)
    if title.startswith("Risk"):  # all pictures are made by the same lines
        check_picture(app, view)


def check_table(app, view) -> None:
    rows = view.locator("tbody tr")
    rows.first.wait_for()  # after a move the table is asked for
    heads = view.locator("th").all_inner_texts()
    name, content = app.saved(view.get_by_role("button", name="CSV").click)
    assert name.endswith(".csv")
    # what speaks of single records says so, on screen and as a file
    internal = not {"record", "question"}.isdisjoint(heads)
    assert name.startswith("internal-") == internal
    assert view.locator("h2").inner_text().endswith("(internal)") == internal
    table = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    assert table[0] == heads
    assert len(table) - 1 == rows.count()
    for place in (0, rows.count() - 1):
        shown = rows.nth(place).locator("td").all_inner_texts()
        assert [same(a, b) for a, b in zip(shown, table[1 + place], strict=True)]


def check_picture(app, view) -> None:
    name, content = app.saved(view.get_by_role("button", name="PNG").click)
    assert name.endswith(".png")
    assert "bodyfat-epsilon-" in name
    assert content.startswith(b"\x89PNG\r\n")
    assert len(content) > 10_000


def same(shown: str, written: str) -> bool:
    """True if a cell on screen is the file's value, apart from its digits."""
    try:
        number = float(shown.replace("−", "-"))
    except ValueError:
        return shown == (written or "–")
    return number == pytest.approx(float(written), rel=5e-4)
