"""The Learn page in a browser: every lesson's picture moves with its sliders, by keyboard."""

from __future__ import annotations

import pytest

PIXELS = "() => document.querySelector('.rwn-card canvas').toDataURL()"
LESSONS = {
    "0 · What is disclosure?": ("The released rows", "Modification probability"),
    "1 · The theorem": ("Points and one release", "Radius ε"),
    "2 · The intruder": ("Who could have made this row", "Neighbors k"),
    "3 · k nearest and ε": ("One record and its neighborhood", "Minimum neighbors k"),
    "4 · Standard errors": ("95 % intervals", "Modification probability"),
    "5 · Choose a setting": ("Risk and loss over the radius", "Radius ε"),
    "6 · Sampling and privacy": ("Risk of a sample unique", "Key drawn anew"),
    "7 · Edges and balance": ("Donors of one record", "Reach"),
    "8 · What ties a row together": ("Risk and loss over the width", "Width of the kernel"),
}
ROUND = """title => {
  const card = document.querySelector('.rwn-card'), canvas = card?.querySelector('canvas');
  return card?.querySelector('b').textContent.startsWith(title) && canvas.width > 300;
}"""
REACH = """() => {
  const canvas = document.querySelector('.rwn-card canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const xs = [], ys = [];
  for (let i = 0; i < data.length; i += 4)
    if (data.slice(i, i + 4).join() === '178,24,43,255') {
      xs.push((i / 4) % canvas.width);
      ys.push(Math.floor(i / 4 / canvas.width));
    }
  return [xs, ys].map((all) => Math.max(...all) - Math.min(...all));
}"""
"""How far the pixels of the theorem's circle are apart, across and up and down."""


def choose(app, title: str, card: str) -> None:
    """Open a lesson from the keyboard: arrow keys move within the list."""
    option = app.page.get_by_role("radio", name=title)
    if not option.is_checked():
        app.page.locator("[data-testid=stRadio] input:checked").press("ArrowDown")
    app.until(ROUND, card)


def test_every_lesson_s_picture_moves_and_its_address_opens_it_again(app, open_app) -> None:
    app.open("/")
    app.page.get_by_role("link", name="Learn", exact=True).click()
    for title, (card, slider) in LESSONS.items():
        choose(app, title, card)
        before, pixels = app.stamp, app.page.evaluate(PIXELS)
        app.page.get_by_role("slider", name=slider).press("End")
        app.wait_for_change(before)
        assert app.page.evaluate(PIXELS) != pixels, title
        if title == "1 · The theorem":
            look_into_the_theorem(app, open_app)
    app.page.get_by_role("button", name="Open this on Tune").click()
    app.wait_for_cards()


def look_into_the_theorem(app, open_app) -> None:
    """Its ball is round, its code has the number on screen, and its address is followed."""
    slider = app.page.get_by_role("slider", name="Radius ε")
    code = app.page.locator("summary", has_text="The code")
    code.click()
    for key, radius in (("Home", "0.05"), ("PageUp", "0.35"), ("ArrowRight", "0.4")):
        before = app.stamp
        slider.press(key)
        stamp = app.wait_for_change(before)
        app.page.get_by_text(f"epsilon={radius}").wait_for()  # still open, with the new number
    across, up = app.page.evaluate(REACH)
    assert up == pytest.approx(across, abs=3)
    assert up > 30
    app.page.wait_for_url("**lesson=theorem&lesson-epsilon=0.4")
    other = open_app()
    other.page.goto(app.page.url)
    other.until("old => document.querySelector('[data-stamp]')?.dataset.stamp === old", stamp)
    other.page.get_by_role("button", name="Next: 2").click()
    other.page.wait_for_url("**lesson=intruder")
    # at the address of a page, Streamlit first asks for its server one folder too deep
    assert all("/learn/_stcore/" in each for each in other.complaints)
    other.complaints.clear()
    app.page.bring_to_front()  # a page in the background paints nothing
