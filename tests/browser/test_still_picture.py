"""Nothing moves while a slider is dragged: no card by a pixel, no axis."""

from __future__ import annotations

from typing import Any

from tests.browser.test_live_sliders import hold

BOXES = """() => [...document.querySelectorAll('.rwn-judged, .rwn-summary, .rwn-tile, .rwn-card')]
  .map((node) => node.getBoundingClientRect().toJSON())"""
AXES = """() => document.querySelector('.rwn-panel').rwnPanel.cards
  .map(({ drawn: { chart: { layout } } }) => layout && [layout.xaxis.range, layout.yaxis.range])"""


def test_no_card_moves_and_no_axis_changes_while_a_slider_is_dragged(
    open_app,
) -> None:
    app = open_app(viewport={"width": 1024, "height": 900}).open("/?demo=pima")
    app.settle()
    look: Any = app.page.evaluate
    boxes, axes = look(BOXES), look(AXES)
    slider = app.slider("epsilon")
    left, across = hold(app, slider, 0.1)
    y = slider.bounding_box()["y"] + 8
    before = app.stamp
    for step in range(1, 12):
        app.page.mouse.move(left + (0.1 + step / 14) * across, y)
        app.page.wait_for_timeout(60)
        assert look(BOXES) == boxes
        assert look(AXES) == axes
    app.wait_for_change(before)
    held = look(AXES)
    assert held == axes
    app.page.mouse.up()
    app.until(f"axes => JSON.stringify(({AXES})()) !== axes", _json(app, axes))
    app.settle()
    assert look(BOXES) == boxes


def _json(app: Any, value: Any) -> str:
    text: str = app.page.evaluate("value => JSON.stringify(value)", value)
    return text
