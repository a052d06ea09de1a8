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
    "5 · The analyst’s side": ("95 % intervals of the slopes", "Neighbors k"),
    "6 · Choose a setting": ("Risk and loss over the radius", "Radius ε"),
    "7 · Sampling and privacy": ("Risk of a sample unique", "Key drawn anew"),
    "8 · Edges and balance": ("Donors of one record", "Reach"),
    "Notes · k-PRAM and k-noise": ("Records within 2δ", "People within reach"),
}
ROUND = """title => {
  const card = document.querySelector('.rwn-card'), canvas = card?.querySelector('canvas');
  return card?.querySelector('b').textContent.startsWith(title) && canvas.width > 300;
}"""


@pytest.fixture
def learn(app):
    app.open("/")
    app.page.get_by_role("link", name="Learn", exact=True).click()
    app.until(ROUND, "The released rows")
    return app


def choose(app, title: str, card: str) -> None:
    """Open a lesson from the keyboard: arrow keys move within the list."""
    option = app.page.get_by_role("radio", name=title)
    if not option.is_checked():
        app.page.locator("[data-testid=stRadio] input:checked").press("ArrowDown")
    app.until(ROUND, card)


def test_every_lesson_s_picture_moves_with_a_slider_by_keyboard(learn):
    for title, (card, slider) in LESSONS.items():
        choose(learn, title, card)
        before, pixels = learn.stamp, learn.page.evaluate(PIXELS)
        handle = learn.page.get_by_role("slider", name=slider)
        handle.press("End")
        after = learn.wait_for_change(before)
        assert after != before
        assert learn.page.evaluate(PIXELS) != pixels, title
    assert learn.complaints == []
    assert learn.foreign == []


def test_the_address_follows_the_sliders_and_opens_the_same_picture(learn, open_app):
    choose(learn, "1 · The theorem", "Points and one release")
    before = learn.stamp
    learn.page.get_by_role("slider", name="Radius ε").press("ArrowRight")
    stamp = learn.wait_for_change(before)
    learn.page.wait_for_url("**lesson=theorem&lesson-epsilon=0.85")
    other = open_app()
    other.page.goto(learn.page.url)
    other.until("old => document.querySelector('[data-stamp]')?.dataset.stamp === old", stamp)
    other.page.get_by_role("button", name="Next: 2").click()
    other.until(ROUND, "Who could have made this row")
    other.page.wait_for_url("**lesson=intruder")
    # at the address of a page, Streamlit first asks for its server one folder too deep
    assert all("/learn/_stcore/" in each for each in other.complaints)
    other.complaints.clear()


def test_a_ball_is_round_and_code_answer_and_tune_are_one_click_away(learn):
    choose(learn, "1 · The theorem", "Points and one release")
    # the circle's outermost pixels are as far apart across as up and down
    across, up = learn.page.evaluate(
        """() => {
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
    )
    assert up == pytest.approx(across, abs=3)
    assert up > 30
    code = learn.page.locator("summary", has_text="The code")
    code.click()
    learn.page.get_by_text("epsilon=0.8").wait_for()
    before = learn.stamp
    learn.page.get_by_role("slider", name="Radius ε").press("ArrowRight")
    learn.wait_for_change(before)
    learn.page.get_by_text("epsilon=0.85").wait_for()  # still open, and with the new number
    assert code.count() == 1
    learn.page.locator("summary", has_text="Answer").click()
    learn.page.get_by_text("What the theorem does not say").wait_for()
    learn.page.get_by_role("button", name="Open this on Tune").click()
    learn.wait_for_cards()
    assert "ε = 0.85 · k = 1" in learn.stamp
    assert learn.complaints == []
