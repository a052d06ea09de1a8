"""The Tune page in a browser: it opens, answers every key, and keeps what the reader did."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.lanes import lanes
from tests.ui.following import CARDS_OF_TUNE

TAG = "() => document.querySelectorAll('.rwn-card, .rwn-card canvas').forEach((n) => n.mine = 1)"
TAGGED = """() => [...document.querySelectorAll('.rwn-card, .rwn-card canvas')]
  .filter((n) => n.mine).length"""

# whether something is painted on every canvas: a blank one has no opaque pixel
PAINTED = """() => [...document.querySelectorAll('.rwn-card canvas')].filter((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, i) => i % 4 === 3 && value > 128);
}).length"""

COLORS = {
    "light": [(0, 114, 178), (213, 94, 0)],
    "dark": [(86, 180, 233), (233, 138, 58)],
}
"""What is original and what is released is drawn in, by the theme."""
NAMES_ARE_IN = """() => [...document.querySelectorAll('.rwn-original i, .rwn-released i')]
  .map((node) => getComputedStyle(node).color)"""
# how many pixels of the box plot have a color, within the rounding of opacity
PIXELS = """(wanted) => {
  const canvas = document.querySelectorAll('.rwn-card canvas')[2];
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 250 && wanted.every((v, j) => Math.abs(data[i + j] - v) < 3)) found++;
  return found;
}"""
# whether the first card can be clicked at its left edge
ON_TOP = """() => {
  const card = document.querySelector('.rwn-card'), box = card.getBoundingClientRect();
  return card.contains(document.elementFromPoint(box.x + 3, box.y + box.height / 2));
}"""


def test_the_page_opens_whole(opened) -> None:
    page = opened.page
    assert page.title() == "RWN"
    assert "bodyfat" in page.get_by_test_id("stSidebar").inner_text()
    assert page.locator(".rwn-parameters").inner_text() == "ε = 2 · k = 5 · q = 1 · seed 1"
    assert page.locator(".rwn-tile").count() == 2
    assert page.locator(".rwn-card").count() == CARDS_OF_TUNE == 9
    assert page.evaluate(PAINTED) == CARDS_OF_TUNE
    last = page.locator(".rwn-card").last.bounding_box()
    assert last["y"] + last["height"] <= 900, "the nine cards fit one screen"


def test_every_chart_has_words_for_a_screen_reader(opened) -> None:
    for chart in opened.page.locator(".rwn-card .rwn-plot").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label") or "") > 20


def test_the_numbers_of_the_regression_open_below(opened) -> None:
    opened.page.get_by_text("Numbers of the regression").click()
    table = opened.page.locator(".rwn-tables table")
    heads = ["coefficient, original", "SE, original", "coefficient, released", "SE, released"]
    assert table.locator("th").all_inner_texts()[:5] == ["term", *heads]
    terms = table.locator("tbody tr td:first-child").all_inner_texts()
    assert terms == ["(intercept)", "bmi", "neck", "chest", "abdomen", "hip"]


def test_a_key_redraws_every_card_in_its_place(opened) -> None:
    app = opened
    app.page.evaluate(TAG)
    titles = app.page.locator(".rwn-card figcaption b").all_inner_texts()
    for name, key, word, same in (
        ("epsilon", "ArrowRight", "ε = 2.1", []),
        ("k", "ArrowRight", "k = 6", []),
        ("q", "ArrowLeft", "q = 0.95", ["Neighborhood size"]),  # no neighborhood depends on q
    ):
        before = app.drawn
        assert word in app.press(name, key)
        least = [0 if title in same else count for title, count in zip(titles, before, strict=True)]
        app.wait_for_cards(beyond=least)
        assert app.page.evaluate(TAGGED) == 2 * CARDS_OF_TUNE
        assert app.page.evaluate(PAINTED) == CARDS_OF_TUNE
        assert word in app.page.locator(".rwn-parameters").inner_text()


@pytest.mark.parametrize("scheme", COLORS)
def test_charts_and_names_have_the_colors_of_the_theme(opened, scheme: str) -> None:
    colors = COLORS[scheme]
    opened.page.emulate_media(color_scheme=scheme)
    for color in colors:
        opened.until(f"channels => ({PIXELS})(channels) > 20", color)
    written = [f"rgb({', '.join(map(str, color))})" for color in colors]
    assert opened.page.evaluate(NAMES_ARE_IN) == written


def test_the_page_prints_its_picture_alone(opened) -> None:
    print_it(opened)


def print_it(app) -> None:
    seen = ".stMainBlockContainer, [data-testid=stSidebar], [data-testid=stHeader], button"
    app.page.emulate_media(media="print", color_scheme="light")
    app.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    shown = app.page.locator(seen).evaluate_all(
        "all => all.filter((e) => e.checkVisibility()).map((e) => e.className + e.dataset.testid)"
    )
    # an explanation's button is its tile's title
    own = ("rwn-", "stMainBlockContainer")
    assert [each for each in shown if not any(part in each for part in own)] == []
    assert len(app.drawn) == CARDS_OF_TUNE
    assert 0 not in app.drawn
    assert app.page.pdf(format="A4").count(b"/Type /Page\n") <= 4
    app.page.emulate_media(media="screen", color_scheme="light")


@pytest.mark.nightly  # test_live_sliders holds keys down, tests/ui/test_live_picture the charts
def test_a_storm_of_keys_ends_with_the_charts_of_the_last_value(app, open_app) -> None:
    app.open("/")
    app.slider("k").focus()
    for _ in range(20):
        app.page.keyboard.press("ArrowRight")
    app.shows("k = 25 ")
    calm = open_app().open("/?k=25")
    assert calm.values() == app.values()
    assert calm.stamp == app.stamp
    for part in (".rwn-note", ".rwn-tables td"):
        read = [tab.page.locator(part).all_inner_texts() for tab in (app, calm)]
        assert read[0] == read[1]


@pytest.mark.parametrize("link", lanes("/?projector=1", "/"))
def test_on_a_narrow_screen_the_sidebar_does_not_cover_the_page(app, link: str) -> None:
    """In large type it is wider."""
    app.page.set_viewport_size({"width": 390, "height": 844})
    app.page.goto(app.server.address + link)  # cards are drawn when they are seen
    app.page.locator(".rwn-card").first.wait_for()
    app.settle(begun=True)
    assert app.page.evaluate(ON_TOP)


def keep(app, name: str) -> None:
    """Keep the present setting under its next name, which a process measures."""
    app.page.get_by_role("button", name="Keep this setting").click()
    app.verdict.get_by_text(f"vs {name}").wait_for()
    app.settle()  # the page's run, which has kept the setting, ends


# by day one: tests/ui/test_release_page keeps two and compares with one or both
@pytest.mark.parametrize("names", lanes("A", "AB"))
def test_kept_settings_show_differences_and_stand_on_the_map_while_compared(
    opened, open_app, names: str
) -> None:
    app = opened if names == "A" else open_app().open("/")  # where nothing was kept before
    keep(app, "A")
    app.press("k", "PageUp")
    better, worse = "[data-better=true]", "[data-better=false]"
    assert re.fullmatch(r"−[\d.]+ pp vs A", app.verdict.locator(better).inner_text())
    marked = app.tile("Least left of the use").locator(worse).inner_text()
    assert re.fullmatch(r"−[\d.]+\s?pp vs A", marked)
    for name in names[1:]:
        keep(app, name)
        app.press("q", "ArrowLeft")
    assert settings_on_map(app) == ["now", *names]
    for name in names:
        app.page.get_by_role("button", name=f"Remove {name}").click()
        app.verdict.get_by_text(f"vs {name}").wait_for(state="detached")
    app.settle()
    assert settings_on_map(app) == ["now"]


def settings_on_map(app) -> list[str]:
    app.card("Risk").get_by_role("button").click()
    rows = app.page.locator(".rwn-view tbody tr td:first-child")
    rows.first.wait_for()  # after a move the table behind a card is asked for
    names = rows.all_inner_texts()
    app.page.keyboard.press("Escape")
    return names


def reads(app: Any, words: str, state: str = "", worst: str = "") -> None:
    expect(app.verdict.locator(".rwn-judged-line")).to_have_text(re.compile(f"^{words}"))
    expect(app.verdict.locator(".rwn-nearest")).to_have_text(re.compile(f"^{worst}"))
    expect(app.verdict).to_have_attribute("data-state", state)


def set_limit(app: Any, title: str, number: str) -> None:
    field = app.page.get_by_role("spinbutton", name=re.compile(f"^{title}, (%|records) at most"))
    field.fill(number)
    field.press("Enter")
    app.settle()


@pytest.mark.nightly  # tests/ui/test_worst_case_follows changes limits
def test_the_verdict_follows_limits_that_are_changed_removed_and_added(app) -> None:
    app.open("/?epsilon=8.2&k=60&q=1")
    sidebar = app.page.get_by_test_id("stSidebar")
    app.open_more()
    app.open_box("Policy: limits on risk")
    set_limit(app, "Worst-case linkage", "20")
    reads(app, "Breaks 1 of 4 limits", "over", "Worst: Linked over one half ")
    set_limit(app, "Linked over one half", "9")  # of its own it lets nobody be linked
    reads(app, "Keeps all 4 limits, but little is left", "costly", "Nearest: ")
    # no tile is green on the strength of its own number
    assert app.page.locator(".rwn-tile[data-state=kept]").count() == 0
    set_limit(app, "True matches", "0")
    reads(app, "Breaks 1 of 4 limits", "over", "Worst: True matches ")
    for title in ("Worst-case linkage", "Attribute gain", "True matches", "Linked over one half"):
        line = sidebar.get_by_test_id("stHorizontalBlock").filter(
            has_text=re.compile(f"{title}, (%|records) at most")
        )
        line.get_by_role("button", name="✕").click()
        line.wait_for(state="detached")
    reads(app, "Not judged: the policy has no limits")
    app.page.get_by_role("combobox", name="Another limit on").focus()
    app.page.keyboard.type("Distance linkage")
    # until the list is cut, Enter would take its first option
    app.page.get_by_role("option", name="Worst-case linkage", exact=True).wait_for(state="detached")
    app.page.get_by_role("option", name="Distance linkage", exact=True).wait_for()
    app.page.keyboard.press("Enter")
    app.settle()
    sidebar.get_by_role("button", name="Add this limit").click()
    app.verdict.filter(has_text="Distance linkage").wait_for()  # its reading may follow
    app.settle()
    sidebar.get_by_role("button", name="Who set these limits").click()
    field = app.page.get_by_role("textbox", name="Distance linkage: source")
    field.fill("handbook 3.1")
    field.press("Enter")
    expect(app.verdict.locator(".rwn-tip")).to_contain_text("(handbook 3.1)")


@pytest.mark.nightly  # tests/ui/test_utility has every measure
def test_utility_has_every_measure_and_a_prediction_that_no_slider_waits_for(app) -> None:
    before = app.server.children()
    app.open("/").visit("Utility")
    app.card("Change of correlations").wait_for()
    expect(app.page.locator(".rwn-card figcaption b")).to_have_text([
        "Correlations", "Change of correlations", "Regression of siri",
        "Principal components", "Small groups", "Distribution of siri", "siri and bmi",
        "Shift of quantiles",
    ])  # fmt: skip
    app.page.get_by_text("All measures and coefficients").click()
    table = app.page.locator(".rwn-tables table").filter(has_text="All utility measures")
    table.get_by_role("row").nth(15).wait_for()
    words = app.press("k", "ArrowRight").rpartition(" ")[0]
    app.visit("Tune")
    app.shows(words)
    app.visit("Utility")
    run = app.page.get_by_role("button", name="Predict siri at this setting")
    cancel = app.page.get_by_role("button", name="Cancel")
    run.click()
    cancel.click()
    app.page.get_by_text("Cancelled.").wait_for()
    app.server.wait_for_the_end_of_what_began_since(before)
    run.click()
    cancel.wait_for()
    app.visit("Tune")
    assert "k = 7" in app.press("k", "ArrowRight")
    assert "k = 8" in app.press("k", "ArrowRight")
    app.visit("Utility")
    expect(run).to_be_disabled()
    table = app.page.get_by_test_id("stTable")
    table.wait_for()
    text = table.inner_text()
    assert "ε = 2 · k = 6 · q = 1" in text  # the setting at which it began
    assert "169 / 72" in text
    app.visit("Utility")
    expect(run).to_be_enabled()
    app.server.wait_for_the_end_of_what_began_since(before)
