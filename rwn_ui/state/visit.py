"""A user's visit: a reload continues it, and another tab may start from a copy of its choices.

It lives in memory, as long as the state of its user: `rwn_ui/server/sweeper.py` ends both.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit import runtime

from rwn_core.errors import RWNError
from rwn_ui.panel.tab import tab
from rwn_ui.server.endpoint import Endpoint
from rwn_ui.server.private_streamlit import current_controls
from rwn_ui.server.sweeper import VISIT, VISITS
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session


class Visit:
    """One user in one browser tab."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)  # known to its tab and the others of the browser
        self.browser = secrets.token_urlsafe(32)  # names the browser, which stores it
        self.other = ""  # token of another visit of this browser; its choices are offered
        self.next = ""  # token of the visit that a reload went on in
        self.asked = st.query_params.to_dict()  # the address that it began with
        self.answered = False  # whether the tab has said which token it had before
        self.session: Session | None = None  # before the first page, and after a reload
        self.answered_table = ""  # the table of the saved project that was taken up or declined
        # saves the choices if they differ from those saved before; returns the present ones
        self.saver: Callable[[Any], Any] | None = None
        self.refusal, self.saved = "", None  # why the last saving failed, and what was saved
        self.person = person()  # another one in this browser finds nothing
        self.controls = current_controls()
        VISITS[self.token] = self

    @property
    def connected(self) -> bool:
        """True if its browser tab is there."""
        if self.controls is None or not runtime.exists():
            return False
        return runtime.get_instance().is_active_session(self.controls.key)

    @property
    def waits(self) -> bool:
        """True if the tab has not said what it was before."""
        return self.session is None and not self.answered

    def save(self) -> None:
        """Save the choices if they have changed."""
        if self.saver is None or self.session is None:
            return
        try:
            self.saved = self.saver(self.saved)
            self.refusal = ""
        except RWNError as refusal:
            self.refusal = str(refusal)

    def close(self) -> None:
        """End its work, unless a reload has gone on with it."""
        if self.session is not None:
            self.session.user.work.close()


def person() -> tuple[object, ...]:
    """Return the logged-in person; empty where the server has no login."""
    known = st.user.to_dict()
    return tuple(known.get(name) for name in ("iss", "sub", "email"))


def _find(token: str) -> Visit | None:
    """The visit of a token, if it is of the same person; of a reloaded one that of its reload."""
    found = VISITS.get(token)
    while isinstance(found, Visit) and found.next:  # reloaded again before the tab had its token
        found = VISITS.get(found.next)
    return found if isinstance(found, Visit) and found.person == current().person else None


@contextmanager
def page_of_tab() -> Iterator[None]:
    """Name the tab, and wait until it has said what it was before."""
    visit = current()
    new = visit.session is None
    slot = st.empty()
    if new:
        slot.container(key="opening").markdown("Opening the page …")
    tab(
        {"token": visit.token, "browser": visit.browser},
        answered=visit.answered,
        waits=visit.waits,
        saved=on_own_machine(),
        on_answer=_resume,
        on_other=lambda token: setattr(current(), "other", token),
    )
    if visit.waits:
        st.stop()
    try:
        yield
    finally:
        if new:
            slot.empty()


def current() -> Visit:
    """Return this user's visit; a new one where a reload has continued the old one."""
    if VISIT in st.session_state and st.session_state[VISIT].next:
        st.session_state.clear()
    if VISIT not in st.session_state:
        st.session_state[VISIT] = Visit()
    found: Visit = st.session_state[VISIT]
    return found


def _resume(token: str, browser: str) -> None:
    """Continue the visit that this tab had before a reload; a link opens what it says."""
    visit = current()
    visit.answered = True
    visit.browser = browser or visit.browser
    before = _find(token)
    if before is None or before.session is None:
        return
    if before.connected or not _names(visit.asked, before.session):
        visit.other = token
        return
    own, visit.session = visit.session, before.session
    before.session = None
    before.next = visit.token
    visit.answered_table, visit.saved = before.answered_table, before.saved
    earlier = visit.session.user
    earlier.endpoint.close()
    visit.session.user = replace(earlier, endpoint=Endpoint())
    if own is not None:
        own.user.work.close()


def _names(asked: Mapping[str, str], session: Session) -> bool:
    """True if an address names the table of a session."""
    return "own" in asked if session.demo is None else asked.get("demo") == session.demo


def offered() -> str:
    """Name of the table of another visit of this browser; empty where there is none."""
    other = _find(current().other)
    session = None if other is None else other.session
    return "" if session is None or session.demo is not None else session.name


def take_over() -> None:
    """Copy the other visit's choices; each tab changes its own from then on."""
    visit = current()
    other = _find(visit.other)
    visit.other = ""
    if other is None or other.session is None or visit.session is None:
        return
    session = other.session
    own = visit.session.user
    same = {id(session.data): session.data, id(session.user): own}
    visit.session = copy.deepcopy(session, same)
    own.end()
    own.results.tables = session.user.results.tables.copied()
    visit.answered_table = other.answered_table
