"""Sliders redraw while they are dragged, draw the last position, and keep their keyboard."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from playwright.sync_api import Locator, Request, expect

from rwn_ui.server.endpoint import ADDRESS
from tests.browser.app_tab import App
from tests.ui.following import CARDS_OF_TUNE

# every summary that is shown from now on
WATCH = """() => {
  window.shown = [];
  const node = document.querySelector('.rwn-parameters');
  new MutationObserver(() => window.shown.push(node.textContent))
    .observe(node, { childList: true, characterData: true, subtree: true });
}"""

# where the tiles and cards stand on the page
PLACES = """() => JSON.stringify([...document.querySelectorAll('.rwn-tile, .rwn-card')].map((e) => {
  const box = e.getBoundingClientRect();
  return [box.x, box.y + window.scrollY, box.width, box.height].map(Math.round);
}))"""

# every picture from now on
HOLD = """() => {
  window.held = [];
  window.rwnChannel.listeners.add((picture) => window.held.push(picture));
  return window.held.length;
}"""


def hold(app, slider, share: float) -> tuple[float, float]:
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    left, width, y = box["x"] + 6, box["width"] - 12, box["y"] + box["height"] / 2
    app.page.mouse.move(left + share * width, y)
    app.page.mouse.down()
    return left, width


def shows(app: App, slider: Locator) -> None:
    """Wait until the picture is that of the position in which a slider stands now."""
    app.page.get_by_text(f"ε = {float(slider.input_value()):g} ·").wait_for()


def press_and_wait(app: App, button: Locator) -> None:
    """Press a button, and wait until the page has changed."""
    before = app.stamp
    button.click()
    app.wait_for_change(before)


def waits(request: Request) -> bool:
    """Whether a post waits for a picture that is still computed, and carries no edit."""
    return request.url.endswith(ADDRESS) and not (request.post_data_json or {}).get("edits")


def test_dragging_and_a_held_key_redraw_at_once_and_are_undone(opened) -> None:
    app = opened
    app.page.evaluate(WATCH)
    slider = app.slider("epsilon")
    left, width = hold(app, slider, 0.3)
    y = slider.bounding_box()["y"] + 8
    places = {app.page.evaluate(PLACES)}
    assert len(json.loads(*places)) > CARDS_OF_TUNE, "the cards, and tiles above them"
    for step in range(1, 25):
        app.page.mouse.move(left + (0.3 + step / 50) * width, y)
        if step % 6 == 0:  # although nobody has let go
            shows(app, slider)
        places.add(app.page.evaluate(PLACES))
    assert app.page.evaluate("() => new Set(window.shown).size") > 3
    held = slider.input_value()
    places.add(app.page.evaluate(PLACES))
    assert len(places) == 1, "nothing moves while a slider is dragged"
    shows(app, slider)
    app.page.wait_for_timeout(600)  # a hand that rests has let nothing go
    app.page.mouse.move(left + 0.9 * width, y)
    app.page.mouse.up()
    last = slider.input_value()
    assert float(last) > float(held)
    app.page.get_by_text(f"ε = {float(last):g} ·").wait_for()
    undo = app.page.get_by_role("button", name="Undo")
    undo.click()  # where it was dragged from
    app.page.get_by_text("ε = 2 ·").wait_for()
    expect(slider).to_have_value("2")  # the sliders come after the picture
    app.page.evaluate("() => { window.shown = []; }")
    slider.focus()
    for press in range(1, 25):  # as a keyboard repeats
        app.page.keyboard.down("ArrowRight")
        if press % 6 == 0:
            shows(app, slider)
    assert app.page.evaluate("() => new Set(window.shown).size") > 3
    app.page.keyboard.up("ArrowRight")
    last = slider.input_value()
    app.page.get_by_text(f"ε = {float(last):g} ·").wait_for()
    press_and_wait(app, undo)  # the first press of the key is a move of its own
    press_and_wait(app, undo)
    expect(slider).to_have_value("2")


def test_a_slider_keeps_its_keyboard_and_its_words_and_asks_for_no_file(opened) -> None:
    app = opened
    for key, k in {"Home": 1, "ArrowUp": 2, "End": 100, "PageDown": 90, "PageUp": 100}.items():
        assert f"k = {k} " in app.press("k", key), key
    shown = app.page.locator(".rwn-sliders").first.aria_snapshot()
    assert re.search(r'slider "Minimum neighbors k": (")?100', shown), shown
    slider = app.slider("epsilon")
    assert slider.get_attribute("aria-valuetext") == "2.0"
    ends = slider.evaluate("s => [s.type, Number(s.min), Number(s.max), Number(s.step)]")
    assert ends[0] == "range"
    assert ends[1] < 2.0 < ends[2]
    explain = app.page.get_by_role("button", name="Explain Radius")
    explain.focus()
    expect(app.page.locator(".rwn-sliders [role=tooltip]").first).to_be_visible()
    before = app.stamp
    app.page.get_by_role("button", name="Undo").click()
    app.wait_for_change(before)
    asked: list[str] = []
    app.settle(begun=True)  # or the slider may still be at its end, and the server busy
    expect(app.slider("k")).not_to_have_value("100")
    app.page.on("request", lambda request: waits(request) or asked.append(request.url))
    app.press("k", "ArrowRight")
    app.settle()
    asked = [url for url in asked if not url.startswith("blob:")]  # a part that comes late
    assert asked == [f"{app.server.address}/{ADDRESS}"]  # the picture


def test_moves_are_answered_without_a_run_and_by_one_where_nothing_else_answers(app) -> None:
    questions: list[Any] = []
    runs: list[str] = []
    app.page.on("websocket", lambda socket: socket.on("framesent", lambda _: runs.append("")))
    note = lambda r: r.url.endswith(ADDRESS) and not waits(r) and questions.append(r)  # noqa: E731
    app.page.on("request", note)
    app.open("/").settle(begun=True)
    runs.clear()
    questions.clear()
    app.page.evaluate(HOLD)
    undo = app.page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    app.press("k", "ArrowRight")
    app.press("k", "ArrowRight")
    app.press("k", "Home")
    expect(app.slider("k")).to_have_value("1")
    undo.click()
    expect(app.slider("k")).to_have_value("7")
    undo.click()
    expect(app.slider("k")).to_have_value("6")
    app.page.wait_for_timeout(600)  # in which a run that is not due would begin
    assert runs == []
    assert [asked.response().status for asked in questions] == [200] * 5
    assert app.page.evaluate("window.held.length") == 5
    assert "k = 6 " in app.stamp
    app.visit("Data")  # a page that is gone answers nothing
    gone = app.page.request.post(questions[0].url, data=questions[0].post_data)
    assert (gone.status, gone.body()) == (204, b"")
    calm = app.visit("Tune")
    assert "k = 6 " in calm.stamp
    told = json.loads(questions[0].post_data)["token"]
    assert told not in app.server.log + app.page.url


@pytest.mark.nightly  # tests/js/channel is answered late, by nothing and by a page to sign in
def test_late_answers_and_none_are_no_pictures_of_another_position(app) -> None:
    """Move at k = 6 while the server is stopped, and while its address gives no picture."""
    app.open("/?k=6").settle(begun=True)
    app.slider("k").wait_for()  # it comes after the picture, and a stopped server sends nothing
    app.server.process.send_signal(signal.SIGSTOP)
    try:
        with app.page.expect_request(f"**/{ADDRESS}"):
            app.slider("k").press("ArrowRight")
        app.page.wait_for_timeout(3300)  # longer than a page waits for a run
    finally:
        app.server.process.send_signal(signal.SIGCONT)
    app.page.get_by_text("· k = 7 ·").wait_for()
    assert "k = 8 " in app.press("k", "ArrowRight")
    # what a run has to answer, and a proxy whose login has ended
    login = {"status": 200, "content_type": "text/html", "body": "<h1>Sign in</h1>"}
    for k, answer in enumerate(({"status": 204}, login), 9):
        app.page.route(f"**/{ADDRESS}", lambda route, _, answer=answer: route.fulfill(**answer))
        by_run = app.press("k", "ArrowRight")
        assert f"k = {k} " in by_run
        app.page.unroute(f"**/{ADDRESS}")
        app.settle(begun=True)
        app.press("k", "ArrowRight")
        assert app.press("k", "ArrowLeft") == by_run
    # a picture that a move has overtaken is not drawn after it
    held = app.page.evaluate(HOLD)
    app.press("k", "ArrowRight")
    newer = app.press("k", "ArrowRight")
    assert held == 0
    assert app.page.evaluate("window.held.length") == 2
    app.page.evaluate("() => window.rwnChannel.show(window.held[0])")
    assert app.stamp == newer
