"""The address of a page: a link that another person can open, and nothing secret in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.text_budget import LONGEST_LINK
from rwn_ui.background.preparation import Preparation
from rwn_ui.panel.tab import show_address
from rwn_ui.server.given_file import given_file
from rwn_ui.server.messages import escaped
from rwn_ui.state import linked_numbers, linked_options
from rwn_ui.state.change_table import change_method, reslice
from rwn_ui.state.results import Key, preparation_key, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

_ASKED, _TAKING, _NOTES = "link.asked", "link.taking", "link.notes"
_LOADED, _STARTED = "1", "start"  # a table of one's own: from the Data page, of `rwn app FILE`


def read(session: Session) -> None:
    """Take what the address says, once; of an own table that is not here, when one is loaded."""
    if _ASKED not in st.session_state:
        asked = st.query_params.to_dict()
        if sum(map(len, asked.values())) > LONGEST_LINK:
            _note(session, "The link is too long; the page opens without its settings.")
            asked = {}
        st.session_state[_ASKED] = asked
        session.projector = asked.get("projector") == "1" or session.projector
        if _elsewhere(session, asked):
            session.link = session.table_version, session.words, asked
            _note(
                session,
                f"This address belongs to a table that is not here: {session.name} is shown "
                "instead, and your table starts at the address’s sliders when you load it on "
                "the Data page.",
            )
    asked = st.session_state[_ASKED]
    if asked and not _elsewhere(session, asked):
        st.session_state[_ASKED] = {}  # it speaks of the table that it opened, not of a later one
        st.session_state[_TAKING] = _Taking(asked, session.table_version)
    taking, coming = st.session_state.get(_TAKING), user_work().preparation
    if taking is not None and not taking.continues_setting(session):
        del st.session_state[_TAKING]
    _show(session)
    if user_work().preparation not in (None, coming):
        st.rerun()  # the top of the page waits for what has begun


def _elsewhere(session: Session, asked: Mapping[str, str]) -> bool:
    """True if the address is of a user's own table, and this one cannot be it."""
    own = asked.get("own")
    if own is None:
        return False
    return session.demo is not None or (own == _LOADED and _started_with(session))


def _started_with(session: Session) -> bool:
    """True if the table is the file of the command line, which each new session opens."""
    given = given_file()
    return given is not None and session.demo is None and session.name == given.name


@dataclass(slots=True)
class _Taking:
    """An address that is being taken over: a step waits for the table that another one chose."""

    asked: Mapping[str, str]
    table_version: int  # of the table that it speaks of
    step: int = 0
    waits: tuple[Key, Preparation] | None = None  # what is left behind, and what is to come
    refused: list[str] = field(default_factory=list)

    def continues_setting(self, session: Session) -> bool:
        """Take what can be taken now, and note what cannot; whether something is left."""
        work = user_work()
        while self.step < len(_STEPS) and self.table_version == session.table_version:
            key, coming = _key(session), work.preparation
            if self.waits is not None and self.waits[0] == key:
                return coming is self.waits[1]  # else somebody gave it up
            if self.step and self.asked.get("method", session.method) != session.method:
                return False  # nobody knows that method, nor what its levers mean
            self.refused += _STEPS[self.step](session, self.asked)
            self.step += 1
            _note(session, *self.refused)
            asked_for = work.preparation
            begun = asked_for is not None and asked_for is not coming and _key(session) == key
            self.waits = (key, asked_for) if asked_for is not None and begun else None
        return False


def _key(session: Session) -> Key:
    return preparation_key(session.data, session.method, session.options)


def _take_method(session: Session, asked: Mapping[str, str]) -> list[str]:
    """The method, at once or once its table is ready."""
    method = asked.get("method", session.method)
    if method not in rwn.METHODS:
        known = ", ".join(rwn.METHODS)
        return [f"method of the link must be one of: {known}; it is left as it was."]
    if method != session.method:
        change_method(session, method)
    return []


def _take_slices(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Slices, by the variables' numbers in the table: a link contains no name."""
    if "slices" not in asked:
        return []
    names = [variable.name for variable in session.data.schema.released]
    try:
        parts = [part.split("-") for part in asked["slices"].split("_") if part]
        reslice(session, [[names[int(number)] for number in part] for part in parts])
    except (ValueError, OverflowError, IndexError, rwn.RWNError):
        return ["slices of the link must be numbers of variables; they are left as they were."]
    return []


def _take_levers(session: Session, asked: Mapping[str, str]) -> list[str]:
    """The sliders' positions; what cannot be used, in sentences."""
    refused = []
    for lever in session.params.levers:
        if lever.name not in asked:
            continue
        ends = prepared(session).prepared.ranges[lever.name]
        value = _number(asked[lever.name], int if lever.whole_number else float)
        if value is None or not ends.low <= value <= ends.high:
            kind = "a whole number" if lever.whole_number else "a number"
            refused.append(
                f"{lever.name} of the link must be {kind} from {ends.low:g} to {ends.high:g}; "
                "it is left as it was."
            )
        else:
            session.levers[lever.name] = value
    return refused


def _number(text: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError):  # a whole number of hundreds of digits
        return None


_STEPS: tuple[Callable[[Session, Mapping[str, str]], list[str]], ...] = (
    _take_method,
    linked_options.take,
    linked_numbers.take,  # before the levers, whose ends follow weights
    _take_levers,
    _take_slices,
)


def _note(session: Session, *sentences: str) -> None:
    st.session_state[_NOTES] = (session.table_version, session.words, sentences)


def _show(session: Session) -> None:
    """Notice on the address, until another setting is chosen."""
    table_version, words, sentences = st.session_state.get(_NOTES, (0, "", ()))
    if (table_version, words) != (session.table_version, session.words):
        st.session_state.pop(_NOTES, None)
        return
    if sentences:
        st.space("xxsmall")  # below the bar of pages
    for sentence in sentences:
        st.warning(escaped(sentence))


def address(session: Session) -> dict[str, str]:
    """Parameters of a shareable address: settings and a demo's name, never a file or a seed."""
    # That of a table which is not here stays until another setting is chosen.
    if session.link is not None and session.link[:2] == (session.table_version, session.words):
        return dict(session.link[2])
    query = {name: f"{value:g}" for name, value in session.levers.items()}
    if session.method != "rwn":
        query["method"] = session.method
    query |= linked_options.write(session) | linked_numbers.write(session)
    if session.slices != session.own_slices:
        query["slices"] = _numbered(session)
    if session.demo is None:
        query["own"] = _STARTED if _started_with(session) else _LOADED
    else:
        query["demo"] = session.demo
    if session.projector:
        query["projector"] = "1"
    return query


def _numbered(session: Session) -> str:
    names = [variable.name for variable in session.data.schema.released]
    numbers = ("-".join(str(names.index(name)) for name in one) for one in session.slices)
    return "_".join(numbers) or "_"  # an empty value would not be kept


def write(session: Session, **more: str) -> None:
    """Keep the address shareable; some pages have more to say."""
    show_address(address(session) | more)
