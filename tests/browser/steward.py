"""A steward at the browser: what is clicked and typed is counted, and what is waited for timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator

from tests.browser.app_tab import App

# seconds of a practiced hand by the keystroke-level model of Card, Moran and Newell:
# to think of the next step, to point, to click; and to type a letter
CLICK = 1.35 + 1.1 + 0.2
LETTER = 0.28


class Steward:
    """Counts clicks, letters and seconds of waiting, from the moment it sits down."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.clicks = 0
        self.letters = 0
        self.waited = 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.waited += time.monotonic() - began

    @property
    def hands(self) -> float:
        """Seconds that the clicks and letters take a person, without reading."""
        return CLICK * self.clicks + LETTER * self.letters

    def wait_for(self, place: Locator) -> None:
        with self.waiting():
            place.first.wait_for()

    def click(self, place: Locator) -> None:
        with self.waiting():
            place.click()
            self.app.settle()
        self.clicks += 1

    def press(self, name: str) -> None:
        self.click(self.app.page.get_by_role("button", name=name, exact=True))

    def visit(self, name: str) -> None:
        self.click(self.app.page.get_by_role("link", name=name, exact=True))

    def type(self, label: str, text: str) -> None:
        """Fill a field: one click, its letters, and a key that leaves it."""
        field = self.app.page.get_by_role("textbox", name=label)
        with self.waiting():
            field.fill(text)
            field.press("Tab")
            self.app.settle()
        self.clicks += 1
        self.letters += len(text) + 1

    def upload(self, file: Path) -> None:
        with self.waiting():
            self.app.page.locator("input[type=file]").first.set_input_files(file)
            self.app.settle()
        self.clicks += 2
