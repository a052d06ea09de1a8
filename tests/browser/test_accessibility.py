"""Names, headings and contrast of every page, light and dark, and the order of the keyboard."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

NAMES = Path(__file__).with_name("names.js").read_text(encoding="utf-8")
TEXTS = Path(__file__).with_name("text_boxes.js").read_text(encoding="utf-8")
PAGES = ("data", "", "utility", "risk", "compare", "find", "release", "learn", "paper")
PLANTED = {
    "<button></button>": "no name: <button></button>",
    '<img src="data:,">': 'no words: <img src="data:,">',
    "<h2>One</h2><h4>Two</h4>": "h4 after h2: Two",
    '<i id="one"></i><i id="one"></i>': "twice: one",
}
PLACE = """() => {
  const node = document.activeElement;
  const list = node.closest('[data-testid=stSidebarContent]');
  const { left, top, bottom } = node.getBoundingClientRect();
  return list && { left, middle: (top + bottom) / 2 + list.scrollTop };
}"""
PLANT = """(html) => {
  document.body.innerHTML = html;
  return unnamed();
}"""
ROW = 30  # pixels by which the parts of one control differ in height


@pytest.mark.nightly  # by day the next test reads Tune
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_names_its_controls_and_is_dark_enough_to_read(app, scheme) -> None:
    app.page.emulate_media(color_scheme=scheme)
    app.page.add_init_script(TEXTS)
    app.page.add_init_script(NAMES)
    app.open("/", recommended=True)
    found = []
    for name in PAGES:
        app.page.goto(f"{app.server.address}/{name}")
        app.settle()
        faults = app.page.evaluate("[...unnamed(), ...paleTexts()]")
        found += [f"{name or 'tune'}: {fault}" for fault in faults]
    assert not found, "\n".join(found)


def test_the_controls_of_tune_have_names_and_planted_faults_are_found(app) -> None:
    app.open("/", recommended=True)
    app.page.evaluate(NAMES)
    assert app.page.evaluate("unnamed()") == []
    found = [app.page.evaluate(PLANT, planted) for planted in PLANTED]
    assert found == [[fault] for fault in PLANTED.values()]


def test_the_keyboard_goes_down_the_sidebar_of_tune(app) -> None:
    app.open("/", recommended=True)
    places = []
    for _ in range(60):
        app.page.keyboard.press("Tab")
        places.append(app.page.evaluate(PLACE))
    within = [place for place in places if place is not None]
    assert len(within) > 20
    for before, after in pairwise(within):
        is_lower = after["middle"] > before["middle"] - ROW
        assert is_lower or after["left"] > before["left"], (before, after)
