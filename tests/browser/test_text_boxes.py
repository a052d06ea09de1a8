"""No text of a page is cut, collides with another or is too pale, on small screens and large."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from tests.browser.app_tab import App
from tests.journeys.files import survey

SCRIPT = Path(__file__).with_name("text_boxes.js").read_text(encoding="utf-8")
SIZES = ((1440, 900), (1280, 720), (1024, 768))
PHONE = ((390, 844),)
WIDER = """() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')]
  .some((at) => at && at.scrollWidth > at.clientWidth + 1)"""
AT_REST = """() => new Promise((done) => {
  const place = (node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return [x, y, width, height, node.dataset.drawn];
  };
  const drawings = () => [...document.querySelectorAll('.rwn-card, canvas')];
  const places = () => JSON.stringify(drawings().map(place));
  const moving = () => document.getAnimations()
    .some((each) => each instanceof CSSTransition && each.playState === 'running');
  let frames = 0, before = '';
  const look = () => {
    const now = places();
    frames = now === before && !moving() ? frames + 1 : 0;
    before = now;
    if (frames < 15) requestAnimationFrame(look);
    else done(true);
  };
  look();
})"""
"""Once 15 frames in a row were painted alike: what is drawn anew at another size is there."""
READY = {
    "Data": "Its variables, and what the file is for",
    "Tune": "Risk–utility map",
    "Utility": "Small groups",
    "Risk": "Who links how many",
    "Find": "Which setting keeps the policy",
    "Compare": "Which release, and why",
    "Release": "Look at the kind and the role",
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


def answers(folder: Path) -> Path:
    """Write 160 people whose variables and answers are whole sentences, as SPSS has them."""
    draw = np.random.default_rng(1)
    asked = "How often in the last four weeks did you, apart from work, {} (without holidays)?"
    labels = {f"q{i}": asked.format(do) for i, do in enumerate(("walk", "swim", "read", "cook"))}
    levels = {1: "never, or not that I remember it", 2: "on one or two days of a week", 3: "daily"}
    age = draw.integers(18, 90, 160)
    frame = pd.DataFrame({n: (age // 30 + draw.integers(0, 2, 160)).clip(1, 3) for n in labels})
    frame["age"] = age
    labels["age"] = "Age at the last birthday before the day of the interview, in years"
    values = {name: levels for name in labels if name != "age"}
    path = folder / "answers.sav"
    pyreadstat.write_sav(frame, str(path), column_labels=labels, variable_value_labels=values)
    return path


def languages(folder: Path) -> Path:
    """Write 150 firms with names alike, and names and levels in five scripts, some missing."""
    draw = np.random.default_rng(2)
    taxes = ("Jahresumsatzsteuervorauszahlungsbetrag", "Umsatzsteuersondervorauszahlung")
    alike = [f"expenditure_of_the_household_in_month_{i}_of_the_reporting_year" for i in range(9)]
    size = draw.normal(20, 1, 150)
    age = draw.integers(18, 90, 150)
    columns = {n: np.exp(size + draw.normal(0, 0.3, 150)).round() for n in (*taxes, *alike)}
    frame = pd.DataFrame(columns)
    towns = ["Neustadt-Glewe-Nebenerwerbssiedlung", "Hellschen-Heringsand-Unterschaar"]
    frame["Rechtsschutzversicherungsgesellschaft"] = draw.choice(towns, 150)
    frame["العمر بالسنوات الكاملة عند آخر عيد ميلاد"] = age
    frame["家庭年收入不含政府补贴和其他转移支付"] = (500 * age + draw.normal(0, 9e3, 150)).round()
    frame["Βαθμός ικανοποίησης από τις υπηρεσίες υγείας"] = age // 9 + draw.integers(0, 3, 150)
    levels = ["Санкт-Петербург и Ленинградская область", "Ханты-Мансийский автономный округ", None]
    frame["Место постоянного проживания на конец года"] = draw.choice(levels, 150)
    frame.to_csv(folder / "languages.csv", index=False)
    return folder / "languages.csv"


@pytest.fixture
def app(open_app: Callable[..., App]) -> App:
    """A tab that notes what is written on canvases from the start."""
    made = open_app()
    made.page.add_init_script(SCRIPT)
    return made


def go(app: App, name: str) -> None:
    app.page.set_viewport_size({"width": 1440, "height": 900})
    app.page.get_by_role("link", name=name, exact=True).click()
    app.page.get_by_text(READY[name]).first.wait_for()
    app.settle()


def faults(app: App, where: str, sizes: tuple[tuple[int, int], ...] = SIZES) -> list[str]:
    found = []
    for width, height in sizes:
        app.page.set_viewport_size({"width": width, "height": height})
        app.until(AT_REST)
        read = app.page.evaluate("textFaults()")
        if width < 640:  # cards below the window are painted when they are seen
            read = [fault for fault in read if ": “" not in fault]
        if app.page.evaluate(WIDER):
            read.append("the page is wider than its window")
        found += [f"{where} at {width}: {fault}" for fault in read]
    return found


def pale(app: App, where: str) -> list[str]:
    return [f"{where}: {fault}" for fault in app.page.evaluate("paleTexts()")]


def open_table(app: App, file: Path) -> Iterator[str]:
    """Open a table; faults before and after its questions are answered."""
    app.open("/").visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(file)
    use = app.page.get_by_role("button", name="Use these answers")
    use.wait_for()
    yield from faults(app, "Questions")
    masked = app.page.get_by_text("Mask it", exact=True)  # of a weight nothing is chosen
    if masked.is_visible():
        masked.click()
    for own in app.page.get_by_text("Each row is a person of its own").all():
        if own.is_visible():  # of rows that look related, nothing is chosen either
            own.click()
    use.click()
    use.wait_for(state="hidden")


@pytest.mark.nightly  # test_no_text_of_tune_is_cut_or_pale reads the first page
def test_no_text_is_cut_or_collides_with_long_names(app: App, tmp_path: Path) -> None:
    found = [*open_table(app, long_names(tmp_path))]
    for name in READY:
        go(app, name)
        found += [*pale(app, name), *faults(app, name, SIZES[::2] + PHONE)]
    app.page.set_viewport_size({"width": 1440, "height": 900})
    app.page.get_by_text("Projector mode").click()
    for name in ("Data", "Tune", "Find", "Compare", "Release"):
        go(app, name)
        found += faults(app, f"{name} on a projector", SIZES[2:])
    assert not found, "\n".join(found)


@pytest.mark.nightly  # the same of names that are longer
@pytest.mark.parametrize("made", [answers, languages])
def test_no_page_is_too_wide_for_other_names_and_labels(app, tmp_path, made) -> None:
    found = [*open_table(app, made(tmp_path))]
    for name in ("Tune", "Utility", "Risk"):
        go(app, name)
        found += faults(app, name, SIZES[1:] + PHONE)
    go(app, "Learn")
    app.page.get_by_text("Projector mode").click()
    for name in ("Tune", "Utility", "Risk"):
        go(app, name)
        found += faults(app, f"{name} on a projector", SIZES[1:2])
    assert not found, "\n".join(found)


PLANTED = {
    "“A planted heading” is cut": "box('position:static; width: 40px; overflow: hidden')",
    "“A planted heading” and “another” collide": "box('') + box('margin-top: -12px', 'another')",
    "“A planted heading” has a contrast of 1.9": "box('color: #bbb; background: #fff')",
    "Planted: “one” and “two” collide": "canvas([['one', 20, 20], ['two', 25, 22]])",
}
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


@pytest.mark.nightly  # test_no_text_of_tune_is_cut_or_pale_and_planted_faults_are_found
def test_no_text_is_cut_on_other_pages_of_a_demo_table_or_in_the_lessons(app: App) -> None:
    app.open("/", recommended=True)
    found = []
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
    for name in ("Data", "Risk", "Compare", "Release", "Learn"):
        go(app, name)
        found += pale(app, name)
    assert not found, "\n".join(found)


def test_no_text_of_tune_is_cut_or_pale_and_planted_faults_are_found(app: App) -> None:
    app.open("/", recommended=True)
    found = faults(app, "Tune", SIZES + PHONE)
    app.page.emulate_media(color_scheme="dark")
    found += pale(app, "Tune")
    assert not found, "\n".join(found)
    app.page.emulate_media(color_scheme="light")
    app.page.goto(f"{app.server.address}/_stcore/health")
    for fault, what in PLANTED.items():
        assert app.page.evaluate(DRAW, what) == [fault]
    app.page.evaluate(DRAW, "box('width: 200vw')")
    assert app.page.evaluate(WIDER)
