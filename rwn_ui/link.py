"""The address of a page: a link that another person can open, and nothing secret in it."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from rwn_ui.session import Session


def read(session: Session) -> None:
    """Take epsilon, k, q and the projector from the address, once; say what cannot be used."""
    place = "tune.link"  # the address speaks of the table that it opened, not of a later one
    if place in st.session_state:
        return
    st.session_state[place] = True
    reach = session.bench().reach
    for what, kind, low, high in (
        ("epsilon", float, 0.0, reach.epsilon),
        ("k", int, 1, reach.k),
        ("q", float, 0.0, 1.0),
    ):
        text = st.query_params.get(what)
        if text is None:
            continue
        value = _number(text, kind)
        if value is None or not low <= value <= high:
            whole = "a whole number" if kind is int else "a number"
            st.warning(
                f"{what} of the link must be {whole} from {low:g} to {high:g}; "
                "it is left as it was."
            )
        else:
            setattr(session, what, value)
    session.projector = st.query_params.get("projector") == "1" or session.projector


def _number(text: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def address(session: Session) -> dict[str, str]:
    """What a shareable address holds: parameters and a demo's name, never a file or a seed."""
    query = {"epsilon": f"{session.epsilon:g}", "k": str(session.k), "q": f"{session.q:g}"}
    if session.demo is not None:
        query["demo"] = session.demo
    if session.projector:
        query["projector"] = "1"
    return query


def write(session: Session) -> None:
    """Keep the address shareable."""
    query = address(session)
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
