"""The address of a page: a link that another person can open, and nothing secret in it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from rwn_ui.messages import plain
from rwn_ui.server.launch import FILE_VARIABLE
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session

_ASKED, _NOTES = "link.asked", "link.notes"
_LOADED, _STARTED = "1", "start"  # a table of one's own: from the Data page, of `rwn app FILE`


def read(session: Session) -> None:
    """Take what the address says, once; of an own table that is not here, when one is loaded."""
    if _ASKED not in st.session_state:
        asked = st.query_params.to_dict()
        st.session_state[_ASKED] = asked
        session.projector = asked.get("projector") == "1" or session.projector
        if _elsewhere(session, asked):
            _note(
                session,
                f"This address belongs to a table that is not here: {session.name} is shown "
                "instead, and your table starts at the address’s ε, k and q when you load it on "
                "the Data page.",
            )
    asked = st.session_state[_ASKED]
    if asked and not _elsewhere(session, asked):
        st.session_state[_ASKED] = {}  # it speaks of the table that it opened, not of a later one
        _take(session, asked)
    _show(session)


def _elsewhere(session: Session, asked: Mapping[str, str]) -> bool:
    """Whether the address is of a table of somebody's own, and this one cannot be it."""
    own = asked.get("own")
    if own is None:
        return False
    return session.demo is not None or (own == _LOADED and _started_with(session))


def _started_with(session: Session) -> bool:
    """Whether the table is the file of the command line, which each new session opens."""
    given = os.environ.get(FILE_VARIABLE)
    return bool(given) and session.demo is None and session.name == Path(str(given)).name


def _take(session: Session, asked: Mapping[str, str]) -> None:
    """Epsilon, k and q of the address; a sentence for each that cannot be used."""
    slider_range, refused = prepared(session).slider_range, []
    for what, kind, low, high in (
        ("epsilon", float, 0.0, slider_range.epsilon),
        ("k", int, 1, slider_range.k),
        ("q", float, 0.0, 1.0),
    ):
        if what not in asked:
            continue
        value = _number(asked[what], kind)
        if value is None or not low <= value <= high:
            whole = "a whole number" if kind is int else "a number"
            refused.append(
                f"{what} of the link must be {whole} from {low:g} to {high:g}; "
                "it is left as it was."
            )
        else:
            setattr(session, what, value)
    _note(session, *refused)


def _number(text: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _note(session: Session, *sentences: str) -> None:
    st.session_state[_NOTES] = (session.generation, session.words, sentences)


def _show(session: Session) -> None:
    """What there is to say of the address, until something else is chosen."""
    generation, words, sentences = st.session_state.get(_NOTES, (0, "", ()))
    if (generation, words) != (session.generation, session.words):
        st.session_state.pop(_NOTES, None)
        return
    if sentences:
        st.space("xxsmall")  # below the bar of pages
    for sentence in sentences:
        st.warning(plain(sentence))


def address(session: Session) -> dict[str, str]:
    """What a shareable address holds: parameters and a demo's name, never a file or a seed."""
    query = {"epsilon": f"{session.epsilon:g}", "k": str(session.k), "q": f"{session.q:g}"}
    if session.demo is None:
        query["own"] = _STARTED if _started_with(session) else _LOADED
    else:
        query["demo"] = session.demo
    if session.projector:
        query["projector"] = "1"
    return query


def write(session: Session) -> None:
    """Keep the address shareable."""
    query = address(session)
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
