"""The widget in a real browser: its script in a page, its Python here, messages between them.

The page has what a notebook gives a widget: an element, and a model that sends and receives.
Python's end is the protocol of ipywidgets, without a kernel.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import rwn_core as rwn
from rwn_ui.notebook import tune
from rwn_ui.notebook.widget import TuneWidget, script, style
from tests.ui.notebook_page import deliver, kept_messages, taken
from tests.waiting import until

HOST = """<!doctype html><html><head><style>STYLE</style></head><body>
<script type="module">
import widget from "./widget.js";
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
window.show = (name) => {
  const heard = new Set();
  const receive = (messages) => {
    for (const [content, buffers] of messages) {
      for (const act of heard) act(content, buffers.map(bytes));
    }
  };
  const model = {
    on: (_, act) => heard.add(act),
    off: (_, act) => heard.delete(act),
    send: async (message) => receive(await window.python(name, message)),
  };
  const el = document.body.appendChild(document.createElement("section"));
  el.id = name;
  const leave = widget.render({ model, el });
  Object.assign(el, { receive, leave });
};
window.ready = true;
</script></body></html>"""


class Notebook:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.widgets: dict[str, TuneWidget] = {}
        self.requests: list[str] = []
        page.expose_function("python", self._answer)
        page.route("**/*", self._serve)
        page.goto("http://notebook.test/")
        page.wait_for_function("window.ready")

    def _serve(self, route: Any) -> None:
        path = route.request.url.removeprefix("http://notebook.test")
        if path == "/":
            route.fulfill(body=HOST.replace("STYLE", style()), content_type="text/html")
        elif path == "/widget.js":
            route.fulfill(body=script(), content_type="text/javascript")
        else:
            self.requests.append(path)
            route.abort()

    def _answer(self, name: str, message: dict[str, Any]) -> list[Any]:
        deliver(self.widgets[name], message)
        return self._sent(name)

    def _sent(self, name: str) -> list[Any]:
        return [
            (content, [base64.b64encode(buffer).decode() for buffer in buffers])
            for content, buffers in taken(self.widgets[name])
        ]

    def show(self, name: str, widget: TuneWidget) -> None:
        self.widgets[name] = widget
        self.page.evaluate("(name) => window.show(name)", name)
        self.wait(name, "", lambda: None)

    def push(self, name: str) -> None:
        self.page.evaluate("([id, all]) => window[id].receive(all)", [name, self._sent(name)])

    def stamp(self, name: str) -> str:
        """Name of the picture on screen; empty before the first."""
        return self.page.locator(f"#{name} .rwn-panel").get_attribute("data-stamp") or ""

    def wait(self, name: str, before: str, act: Any) -> None:
        act()
        test = "([id, old]) => { const s = document.querySelector(`#${id} .rwn-panel`)"
        test += ".dataset.stamp; return s && s !== old; }"
        self.page.wait_for_function(test, arg=[name, before])

    def texts(self, name: str) -> tuple[list[str], list[str]]:
        place = self.page.locator(f"#{name}")
        notes = place.locator(".rwn-card .rwn-note")
        return place.locator(".rwn-value").all_text_contents(), notes.all_text_contents()

    def point_at_card(self, name: str, number: int) -> None:
        """Move the pointer to a card until its live chart is there; a new picture forgets it."""
        live = self.page.locator(f"#{name} .rwn-live .plot-container")

        def is_live() -> bool:
            self.page.mouse.move(0, 0)
            self.page.locator(f"#{name} .rwn-card").nth(number).hover()
            self.page.wait_for_timeout(1_000)
            return live.is_visible()

        until(is_live)

    def slider(self, name: str, label: str) -> Any:
        return self.page.locator(f"#{name}").get_by_role("slider", name=label, exact=True)


@pytest.fixture
def notebook(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    with kept_messages(monkeypatch):
        made = Notebook(page)
        yield made
        page.close()  # it may still wait for a picture
        for widget in made.widgets.values():
            widget.close()
    assert faults == []
    assert made.requests == [], "a widget asks no server"


@pytest.mark.nightly  # tests/ui/test_notebook moves settings both ways, and two widgets apart
def test_sliders_and_settings_move_each_other_in_their_own_widget(notebook) -> None:
    one = tune(rwn.load_demo("bodyfat"))
    notebook.show("one", one)
    k = notebook.slider("one", "Minimum neighbors k")
    before = notebook.texts("one")
    shown = notebook.stamp("one")
    notebook.wait("one", shown, lambda: k.press("ArrowRight"))
    after = notebook.texts("one")
    assert one.setting == rwn.RWN(epsilon=2.0, k=6, q=1.0)
    assert all(old != new for old, new in zip(before, after, strict=True))
    one.setting = rwn.RWN(epsilon=1.0, k=3, q=0.5)
    shown = notebook.stamp("one")
    notebook.wait("one", shown, lambda: notebook.push("one"))
    assert k.input_value() == "3"
    assert notebook.slider("one", "Modification probability q").input_value() == "0.5"
    assert notebook.texts("one") != after
    two = tune(rwn.load_demo("bodyfat"))
    notebook.show("two", two)
    other = notebook.texts("two")
    shown = notebook.stamp("one")
    notebook.wait("one", shown, lambda: k.press("ArrowRight"))
    assert notebook.texts("two") == other
    assert (one.setting.k, two.setting.k) == (4, 5)
    assert notebook.slider("two", "Minimum neighbors k").input_value() == "5"
    notebook.point_at_card("one", 1)
    notebook.page.evaluate("() => window.one.leave()")  # as when its cell runs again
    assert one._tuned.session.user.work.advice is None
    shown = notebook.stamp("two")
    other_k = notebook.slider("two", "Minimum neighbors k")
    notebook.wait("two", shown, lambda: other_k.press("ArrowRight"))
    assert two.setting.k == 6
