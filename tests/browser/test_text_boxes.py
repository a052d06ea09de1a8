"""No text of a page is cut, collides with another or is too pale, on small screens and large."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyreadstat
import pytest

from tests.browser.app_tab import App
from tests.journeys.files import survey

SCRIPT = Path(__file__).with_name("text_boxes.js").read_text(encoding="utf-8")
SIZES = ((1440, 900), (1280, 720), (1024, 768))
PHONE = ((390, 844),)
WIDER = """() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')]
  .some((at) => at && at.scrollWidth > at.clientWidth + 1)"""
READY = {
    "Data": "Its variables, and the regression to keep",
    "Tune": "Risk–utility map",
    "Utility": "Small groups",
    "Risk": "Who links how many",
    "Find": "Which setting keeps the policy",
    "Compare": "Which release, and why",
    "Release": "A release that may leave",
    "Learn": "Projector mode",
}
"""Words of each page that come with the rest of it."""


def long_names(folder: Path) -> Path:
    """Write 400 people of a survey with 23 variables of long names."""
    frame, about = pyreadstat.read_sav(str(survey(folder / "survey.sav", 400)))
    frame = frame.drop(columns=["persnr", "hid"])
    frame.columns = [re.sub(r"\W+", "_", about.column_names_to_labels[name]) for name in frame]
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


@pytest.fixture
def app(open_app: Callable[..., App]) -> App:
    """A tab that notes what is written on canvases from the start."""
    made = open_app()
    made.page.add_init_script(SCRIPT)
    return made


def go(app: App, name: str) -> None:
    """Go to a page and wait until its charts are drawn."""
    app.page.set_viewport_size({"width": 1440, "height": 900})
    app.page.get_by_role("link", name=name, exact=True).click()
    app.page.get_by_text(READY[name]).first.wait_for()
    app.settle()


def faults(app: App, where: str, sizes: tuple[tuple[int, int], ...] = SIZES) -> list[str]:
    """Faults of the page at each size."""
    found = []
    for width, height in sizes:
        app.page.set_viewport_size({"width": width, "height": height})
        app.page.wait_for_timeout(250)  # until what is drawn anew at this size is painted
        read = app.page.evaluate("textFaults()")
        if width < 640:  # cards below the window are painted when they are seen
            read = [fault for fault in read if ": “" not in fault]
        if app.page.evaluate(WIDER):
            read.append("the page is wider than its window")
        found += [f"{where} at {width}: {fault}" for fault in read]
    return found


def pale(app: App, where: str) -> list[str]:
    """Texts of the page that are too pale to be read."""
    return [f"{where}: {fault}" for fault in app.page.evaluate("paleTexts()")]


def open_people(app: App, folder: Path) -> Iterator[str]:
    """Open the survey; faults before and after its questions are answered."""
    app.open("/").visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(long_names(folder))
    use = app.page.get_by_role("button", name="Use these answers")
    use.wait_for()
    yield from faults(app, "Questions")
    use.click()
    use.wait_for(state="hidden")


def test_no_text_is_cut_or_collides_with_long_names(app: App, tmp_path: Path) -> None:
    found = [*open_people(app, tmp_path)]
    for name in READY:
        go(app, name)
        found += [*pale(app, name), *faults(app, name, SIZES[::2] + PHONE)]
    app.page.set_viewport_size({"width": 1440, "height": 900})
    app.page.get_by_text("Projector mode").click()
    for name in READY:
        go(app, name)
        found += faults(app, f"{name} on a projector", SIZES[2:])
    assert not found, "\n".join(found)


def test_no_text_is_cut_or_collides_on_a_demo_table_and_in_the_lessons(app: App) -> None:
    app.open("/", recommended=True)
    found = faults(app, "Tune", SIZES + PHONE)
    for name in ("Utility", "Risk", "Learn"):
        go(app, name)
        found += faults(app, name, SIZES[1:2])
    lessons = app.page.get_by_test_id("stRadio").get_by_role("radio")
    app.page.get_by_text("Projector mode").click()
    app.settle()
    for lesson in range(lessons.count()):  # in large type, on the smallest screen
        lessons.nth(lesson).check(force=True)
        app.settle()
        found += faults(app, f"Lesson {lesson}", SIZES[2:])
        app.page.set_viewport_size({"width": 1440, "height": 900})
    app.page.emulate_media(color_scheme="dark")
    for name in ("Tune", "Data", "Risk", "Compare", "Release", "Learn"):
        go(app, name)
        found += pale(app, name)
    assert not found, "\n".join(found)


PLANTED = {
    "“A planted heading” is cut": "box('position:static; width: 40px; overflow: hidden')",
    "“A planted heading” and “another” collide": "box('') + box('margin-top: -12px', 'another')",
    "“A planted heading” has a contrast of 1.9": "box('color: #bbb; background: #fff')",
    "Planted: “long” is cut": "canvas([['long', 190, 20]])",
    "Planted: “one” and “two” collide": "canvas([['one', 20, 20], ['two', 25, 22]])",
}
SOUND = (
    "box('') + box('', 'another')",
    "canvas([['one', 20, 20], ['two', 60, 20]])",
    "box('width: 40px; overflow: hidden; text-overflow: ellipsis\" title=\"all of it')",
    "box('width: 40px; overflow-x: auto')",
)
DRAW = """(what) => {
  const box = (style, words = 'A planted heading') =>
    `<div style="white-space: nowrap; font: 16px serif; ${style}">${words}</div>`;
  const canvas = (texts) => (setTimeout(() => {
    const ctx = document.querySelector('canvas').getContext('2d');
    ctx.clearRect(0, 0, 200, 40);
    for (const [words, x, y] of texts) ctx.fillText(words, x, y);
  }), `<figure class="rwn-card"><b>Planted</b><canvas width="200" height="40"></canvas></figure>`);
  document.body.innerHTML = eval(what);
  return new Promise((done) => setTimeout(() => done([...textFaults(), ...paleTexts()]), 30));
}"""


def test_planted_faults_are_found_and_what_is_sound_is_not_called_one(app: App) -> None:
    app.page.goto(f"{app.server.address}/_stcore/health")
    for fault, what in PLANTED.items():
        assert app.page.evaluate(DRAW, what) == [fault]
    for what in SOUND:
        assert app.page.evaluate(DRAW, what) == []
    assert not app.page.evaluate(WIDER)
    app.page.evaluate(DRAW, "box('width: 200vw')")
    assert app.page.evaluate(WIDER)
