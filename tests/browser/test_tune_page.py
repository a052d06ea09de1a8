"""The Tune page in a real browser: it opens, answers every key, and keeps what the reader did."""

from __future__ import annotations

import re

import pytest

TAG = "() => document.querySelectorAll('.rwn-card, .rwn-card canvas').forEach((n) => n.mine = 1)"
TAGGED = (
    "() => [...document.querySelectorAll('.rwn-card, .rwn-card canvas')]"
    ".filter((n) => n.mine).length"
)
# whether something is painted on every canvas: a blank one has no opaque pixel
PAINTED = """() => [...document.querySelectorAll('.rwn-card canvas')].filter((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, i) => i % 4 === 3 && value > 128);
}).length"""


def test_the_page_opens_on_bodyfat_with_tiles_cards_and_the_regression_table(opened) -> None:
    app = opened
    assert app.page.title() == "RWN"
    assert "bodyfat" in app.page.get_by_test_id("stSidebar").inner_text()
    assert app.page.locator(".rwn-parameters").inner_text() == "ε = 2 · k = 5 · q = 1 · seed 1"
    assert app.page.locator(".rwn-tile").count() == 2
    assert app.page.locator(".rwn-card").count() == 9
    assert app.page.evaluate(PAINTED) == 9
    table = app.page.locator(".rwn-tables table")
    assert table.locator("th").all_inner_texts()[:5] == [
        "term",
        "coefficient, original",
        "SE, original",
        "coefficient, released",
        "SE, released",
    ]
    terms = table.locator("tbody tr td:first-child").all_inner_texts()
    assert terms == ["(intercept)", "bmi", "neck", "chest", "abdomen", "hip"]


def test_the_nine_cards_fit_one_screen(opened) -> None:
    last = opened.page.locator(".rwn-card").last.bounding_box()
    assert last["y"] + last["height"] <= 900


WITHIN = """() => [...document.querySelectorAll('.rwn-tile .rwn-tip')].every((tip) => {
  tip.style.display = 'block'; // a hidden one takes no room
  const { left, right } = tip.getBoundingClientRect();
  tip.style.display = '';
  return left >= 0 && right <= document.querySelector('[data-testid=stMain]').clientWidth
    + document.querySelector('[data-testid=stMain]').getBoundingClientRect().left;
})"""


def test_no_help_of_a_tile_opens_beyond_the_page(opened, open_app) -> None:
    assert opened.page.evaluate(WITHIN)
    narrow = open_app(viewport={"width": 390, "height": 844})
    narrow.page.goto(narrow.server.address)  # cards are drawn when they are seen
    narrow.page.locator(".rwn-tile").nth(1).wait_for()
    narrow.settle()
    assert narrow.page.evaluate(WITHIN)


def test_every_chart_has_words_for_a_screen_reader(opened) -> None:
    assert opened.page.locator(".rwn-card .rwn-plot").count() == 9
    for chart in opened.page.locator(".rwn-card .rwn-plot").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label") or "") > 20


def test_an_arrow_key_redraws_the_cards_in_place(opened) -> None:
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
        assert app.page.evaluate(TAGGED) == 18
        assert app.page.evaluate(PAINTED) == 9
        assert word in app.page.locator(".rwn-parameters").inner_text()


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


def test_pins_show_differences_and_stand_on_the_map_until_cleared(opened) -> None:
    app = opened
    linked = app.verdict
    app.page.get_by_role("button", name="Pin A").click()
    linked.get_by_text("±0.0 pp vs A").wait_for()
    for _ in range(10):
        app.press("k", "ArrowRight")
    better, worse = "[data-better=true]", "[data-better=false]"
    assert re.fullmatch(r"−[\d.]+ pp vs A", linked.locator(better).inner_text())
    assert re.fullmatch(r"\+[\d.]+ vs A", app.tile("Relations lost").locator(worse).inner_text())
    app.page.get_by_role("button", name="Pin B").click()
    linked.get_by_text("vs B").wait_for()
    app.press("q", "ArrowLeft")
    assert settings_on_map(app) == ["now", "A", "B"]
    app.page.get_by_role("button", name="Clear").click()
    linked.get_by_text("vs A").wait_for(state="detached")
    assert settings_on_map(app) == ["now"]


def settings_on_map(app) -> list[str]:
    app.card("Risk").get_by_role("button").click()
    names = app.page.locator(".rwn-view tbody tr td:first-child").all_inner_texts()
    app.page.keyboard.press("Escape")
    return names


def test_a_preset_moves_all_sliders_also_when_it_is_chosen_again(opened) -> None:
    app = opened
    app.page.get_by_role("button", name="Strong").click()
    strong = app.shows("k = 15").rpartition(" ")[0]
    app.press("k", "ArrowRight")
    app.page.get_by_role("button", name="Strong").click()
    app.shows(f"{strong} ")


COLORS = """() => [...document.querySelectorAll('.rwn-original i, .rwn-released i')]
  .map((node) => getComputedStyle(node).color)"""
LIGHT = ["rgb(0, 114, 178)", "rgb(213, 94, 0)"]
DARK = ["rgb(86, 180, 233)", "rgb(233, 138, 58)"]
# how many pixels of the box plot have a color, within the rounding of opacity
PIXELS = """(wanted) => {
  const canvas = document.querySelectorAll('.rwn-card canvas')[2];
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 250 && wanted.every((v, j) => Math.abs(data[i + j] - v) < 3)) found++;
  return found;
}"""


def test_each_theme_draws_in_its_own_colors_also_when_it_changes(opened) -> None:
    for scheme, colors in (("light", LIGHT), ("dark", DARK)):
        opened.page.emulate_media(color_scheme=scheme)
        for color in colors:
            channels = [int(part) for part in re.findall(r"\d+", color)]
            opened.until(f"channels => ({PIXELS})(channels) > 20", channels)
        assert opened.page.evaluate(COLORS) == colors


def test_projector_mode_shows_two_columns_and_larger_type(app) -> None:
    app.open("/")
    size = "() => parseFloat(getComputedStyle(document.querySelector('.rwn-value')).fontSize)"
    small = app.page.evaluate(size)
    app.open_more()
    app.page.get_by_text("Projector mode").click()
    app.page.locator(".rwn-projector").wait_for()
    tops = [card.bounding_box()["y"] for card in app.page.locator(".rwn-card").all()]
    assert tops[0] == tops[1] < tops[2] == tops[3]
    assert app.page.evaluate(size) == pytest.approx(1.5 * small)
    app.page.wait_for_url("**projector=1**")


def test_on_a_narrow_screen_the_sidebar_does_not_cover_the_page(open_app) -> None:
    narrow = open_app(viewport={"width": 390, "height": 844})
    on_top = """(tile) => {
      const { x, y, height } = tile.getBoundingClientRect();
      return tile.contains(document.elementFromPoint(x + 3, y + height / 2));
    }"""
    for link in ("/", "/?projector=1"):  # the sidebar is wider in large type
        narrow.page.goto(narrow.server.address + link)  # cards are drawn when they are seen
        tile = narrow.page.locator(".rwn-tile").first
        tile.wait_for()
        narrow.settle()
        assert tile.evaluate(on_top), link
