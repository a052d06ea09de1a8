"""Epsilon, k and q as sliders: the same setting, moved from any page."""

from __future__ import annotations

import math
from typing import NamedTuple

import streamlit as st

from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session


class Slider(NamedTuple):
    """One slider: the choice that it moves, and between which ends."""

    what: str
    label: str
    low: float
    high: float
    step: float
    help: str


def _sliders(session: Session) -> tuple[Slider, ...]:
    """Epsilon, k and q."""
    ends = prepared(session).slider_range
    return (
        Slider(
            "epsilon",
            "Radius ε (standard deviations)",
            0.0,
            ends.epsilon,
            ends.step,
            "Every record within ε gives values; not the epsilon of differential privacy.",
        ),
        Slider(
            "k",
            "Minimum neighbors k",
            1,
            ends.k,
            1,
            "At least the k nearest records give values, also to an outlier.",
        ),
        Slider(
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

    A choice that was changed elsewhere moves its slider; otherwise the slider moves the choice.

    Parameters
    ----------
    session : Session
    page : str
        Begins their keys; a widget of the same name on another page would start at its low end.
    """
    for what, _, low, high, *_ in _sliders(session):
        key = _key(session, page, what)
        chosen = getattr(session, what)
        # a slider of another range is another widget to Streamlit, which would start at its low end
        known = st.session_state.get(f"{key}.known") == (low, high, chosen)
        if key not in st.session_state or not known:
            st.session_state[key] = min(max(chosen, low), high)
        value = st.session_state[key]
        chosen = round(value, 10) if isinstance(value, float) else value
        st.session_state[f"{key}.known"] = (low, high, chosen)
        setattr(session, what, chosen)  # last, or a run that is cut short would lose the move


def show(session: Session, page: str) -> None:
    """The sliders, whose values `heed` has taken."""
    for what, label, low, high, step, words in _sliders(session):
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
