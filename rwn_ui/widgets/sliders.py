"""Epsilon, k and q as sliders: the same setting, moved from any page."""

from __future__ import annotations

import math
from typing import NamedTuple

import streamlit as st

from rwn_ui.state.session import Session


class Lever(NamedTuple):
    """One slider: the choice it moves, and how far."""

    what: str
    label: str
    low: float
    high: float
    step: float
    help: str


def _levers(session: Session) -> tuple[Lever, ...]:
    """Epsilon, k and q."""
    slider_range = session.bench().slider_range
    return (
        Lever(
            "epsilon",
            "Radius ε (standard deviations)",
            0.0,
            slider_range.epsilon,
            slider_range.step,
            "Every record within ε gives values; not the epsilon of differential privacy.",
        ),
        Lever(
            "k",
            "Minimum neighbors k",
            1,
            slider_range.k,
            1,
            "At least the k nearest records give values, also to an outlier.",
        ),
        Lever(
            "q",
            "Modification probability q",
            0.0,
            1.0,
            0.05,
            "The chance that a cell takes the value of a random neighbor.",
        ),
    )


def _key(session: Session, page: str, what: str) -> str:
    return f"{page}.{session.generation}.{what}"


def heed(session: Session, page: str) -> None:
    """Take the sliders' values before they are drawn, so that a picture can come first.

    Parameters
    ----------
    session : Session
    page : str
        Begins their keys; a widget of the same name on another page would start at its low end.
    """
    for what, _, low, high, *_ in _levers(session):
        key = _key(session, page, what)
        # a slider of another range is another widget to Streamlit, which would start at its low end
        ends = st.session_state.get(f"{key}.ends")
        if key not in st.session_state or ends != (low, high):
            st.session_state[f"{key}.ends"] = (low, high)
            st.session_state[key] = min(max(getattr(session, what), low), high)
        value = st.session_state[key]
        setattr(session, what, round(value, 10) if isinstance(value, float) else value)


def show(session: Session, page: str) -> None:
    """The sliders, whose values `heed` has taken."""
    for what, label, low, high, step, words in _levers(session):
        if low == high:
            st.text(f"{label}: {high}")
            continue
        digits = max(0, -math.floor(math.log10(step)))
        form = f"%.{digits}f" if isinstance(step, float) else "%d"
        key = _key(session, page, what)
        st.slider(label, low, high, step=step, key=key, help=words, format=form)


def draw(session: Session, page: str) -> None:
    """Take the values and draw the sliders, where nothing has to come between."""
    heed(session, page)
    show(session, page)
