"""The picture of Tune while tables come and go, and what stays where something goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_ui.risk import view as risk_view
from rwn_ui.state import kept_picture
from rwn_ui.state.change_table import load, redescribe
from rwn_ui.state.session import Session
from rwn_ui.state.work import TuneScreen
from rwn_ui.tune import picture as tune_picture
from rwn_ui.tune import view as tune_view
from rwn_ui.tune.picture import PageOfTune
from rwn_ui.utility import view as utility_view
from rwn_ui.widgets import live_sliders as sliders
from tests.tables import described

RECORDS = 24
SWAPS = 50
FAULT = "a value of the table"


class RunAgain(BaseException):
    """As Streamlit's: the page is drawn again."""


def small(number: int) -> rwn.Microdata:
    """One of a few tables with other names, so that each picture tells which it is of."""
    rng = np.random.default_rng(number)
    columns = {f"{name}{number % 5}": rng.normal(size=RECORDS).round(2) for name in "abc"}
    return described(pd.DataFrame(columns), **{f"c{number % 5}": "confidential"})


class Browser:
    """What a fragment draws, without a browser; a fragment runs with the page that made it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.panels: list[dict[str, Any]] = []
        self.sliders: list[dict[str, Any]] = []
        self.page = self.run()

    def run(self) -> PageOfTune:
        """The page is drawn: its record is made at once."""
        places = st.container()
        self.page = PageOfTune(
            choices=tune_view.page_state(self.session),
            levers=places,
            weights=places,
            making=places,
        )
        return self.page

    def fire(self) -> bool:
        """The fragment runs alone; True if it had the page run again."""
        try:
            tune_picture.picture.__wrapped__(self.session, self.page)
        except RunAgain:
            return True
        return False


@pytest.fixture
def browser(session: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    def again() -> None:
        raise RunAgain

    made = Browser(session)
    monkeypatch.setattr(st, "rerun", again)
    monkeypatch.setattr(tune_picture, "panel", lambda shown, **_: made.panels.append(shown))
    monkeypatch.setattr(
        tune_picture, "draw_sliders", lambda data, **_: made.sliders.append(data["kind"])
    )
    yield made
    session.user.work.end()


def swap(session: Session, number: int) -> None:
    """Another table comes: a file, or the same one described in another way."""
    if number % 3 == 2:
        schema = session.data.schema
        first = schema.released[0].name
        role = rwn.Role.KEY if schema.variable(first).role is rwn.Role.OTHER else rwn.Role.OTHER
        other = session.data.with_schema(schema.replace_variable(first, role=role))
        redescribe(session, other, by_grid=False)
    else:
        load(session, small(number), name=f"t{number}", demo="of no name")


@pytest.mark.parametrize("drawn_before", [True, False])
def test_a_fragment_that_fires_between_two_tables_has_the_page_drawn_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, drawn_before: bool
) -> None:
    session = browser.session
    monkeypatch.setattr(tune_view, "payload", lambda of, current: {"table": of.name, "waits": []})
    if drawn_before:
        assert browser.fire() is False
    wrong = []
    for number in range(SWAPS):
        swap(session, number)
        # a post of the table before has no answer, and its fragment draws nothing of the new one
        before = len(browser.panels)
        asked = {"token": session.user.endpoint.token, "table": "-1", "edits": []}
        answered = session.user.endpoint.handle(asked)
        again = browser.fire()
        drawn = len(browser.panels) - before
        browser.run()
        redrawn = browser.fire()
        if (answered, again, drawn, redrawn) != (None, True, 0, False):
            wrong.append((number, answered, again, drawn, redrawn))
        if browser.panels[-1]["table"] != session.name:
            wrong.append((number, browser.panels[-1]["table"]))
    assert wrong == []


def test_a_button_of_the_panel_that_changes_the_table_has_the_page_drawn_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browser.fire() is False
    monkeypatch.setattr(tune_picture.advice, "take", lambda session, sent: swap(session, 2))
    tune_picture.picked(browser.session, "advice:0")
    assert browser.session.user.results.tune == TuneScreen()
    assert browser.fire() is True


def test_what_fragment_and_page_share_cannot_be_changed_in_place(browser: Browser) -> None:
    with pytest.raises(FrozenInstanceError):
        browser.page.choices = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        browser.session.user.results.tune.held = True  # type: ignore[misc]
    results = browser.session.user.results
    results.note(held=True)
    results.note(picture={"waits": []})
    assert results.tune == TuneScreen(held=True, picture={"waits": []})


def broken(*_: object, **__: object) -> Any:
    raise ValueError(FAULT)


@pytest.fixture
def drawn(browser: Browser) -> Browser:
    assert browser.fire() is False
    browser.sliders.clear()
    return browser


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (tune_view, "payload"),
        (tune_picture, "current_release"),
        (tune_view, "note_choice"),
        (sliders, "controls"),
    ],
)
def test_whatever_fails_leaves_the_last_picture_and_the_sliders(
    drawn: Browser, monkeypatch: pytest.MonkeyPatch, where: ModuleType, what: str
) -> None:
    before = drawn.panels[-1]
    said: list[str] = []
    monkeypatch.setattr(st, "error", lambda text, **_: said.append(text))
    monkeypatch.setattr(where, what, broken)
    drawn.run()
    assert drawn.fire() is False
    (sentence,) = said
    assert sentence.startswith("Unexpected error ")
    assert sentence.endswith("report the number if it comes again.")
    assert FAULT not in sentence
    assert drawn.panels[-1]["cards"] == before["cards"]
    assert drawn.panels[-1]["page"] is False, "or the browser would have it drawn for ever"
    assert drawn.sliders == ["levers", "weights"]


def test_where_the_first_picture_fails_the_sliders_stand(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune_view, "payload", broken)
    assert browser.fire() is False
    assert browser.sliders == ["levers", "weights"]
    assert browser.panels[-1]["endpoint"]["token"]
    assert "cards" not in browser.panels[-1]


def test_a_refused_edit_is_said_once_and_the_next_picture_draws_the_page(
    drawn: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "error", lambda text, **_: said.append(text))
    session = drawn.session
    session.user.results.note(refusal=rwn.ParameterError("Give another weight."))
    drawn.fire()
    assert said == ["Give another weight."]
    posted = session.user.endpoint.handle({"table": str(session.table_version), "edits": []})
    assert posted is not None
    assert b'"page":true' in posted
    drawn.fire()
    assert said == ["Give another weight."]


PAGES = {
    "utility": (utility_view, "payload"),
    "risk": (risk_view, "payload"),
}


@pytest.mark.parametrize("page", PAGES)
def test_other_pages_keep_their_last_picture_and_their_sliders(
    open_page, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    screen = open_page("tune")
    screen.session.data = screen.session.data.take(np.arange(60))
    screen.visit(page)
    assert screen.errors == []
    before = screen.results.pictures[page].payload
    moved = [each.label for each in screen.test.slider]
    drawn: list[Any] = []
    monkeypatch.setattr(kept_picture, "panel", lambda payload, **_: drawn.append(payload))
    monkeypatch.setattr(*PAGES[page], broken)
    screen.test.run()
    (sentence,) = screen.errors
    assert FAULT not in sentence
    assert drawn == [before]
    assert [each.label for each in screen.test.slider] == moved
    assert moved


def test_a_picture_about_something_else_is_not_shown_in_place_of_one_that_fails(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(kept_picture, "panel", lambda payload, **_: drawn.append(payload))
    kept_picture.show_picture(session, {"figure": 3}, key="paper", about=3)
    for about in (4, 3):
        with kept_picture.guarded_picture(session, "paper", about):
            raise ValueError(FAULT)
    assert drawn == [{"figure": 3}, {"figure": 3}], "once by itself, once for its own figure"
    # what was drawn before something else failed is not drawn twice
    drawn.clear()
    with kept_picture.guarded_picture(session, "paper", 3):
        kept_picture.show_picture(session, {"figure": "new"}, key="paper", about=3)
        raise ValueError(FAULT)
    assert drawn == [{"figure": "new"}]
