"""Epsilon, k and q on the pages beside Tune: the same setting, moved from there too."""

from __future__ import annotations

import math

import streamlit as st

from rwn_ui.session import Session


def draw(session: Session, page: str) -> None:
    """The three sliders.

    Parameters
    ----------
    session : Session
    page : str
        Begins their keys; a widget of the same name on another page would start at its low end.
    """
    reach = session.bench().reach
    for what, label, low, high, step in (
        ("epsilon", "Radius ε (standard deviations)", 0.0, reach.epsilon, reach.step),
        ("k", "Minimum neighbors k", 1, reach.k, 1),
        ("q", "Modification probability q", 0.0, 1.0, 0.05),
    ):
        if low == high:
            continue
        place = f"{page}.{session.generation}.{what}"
        ends = st.session_state.get(f"{place}.ends")
        if place not in st.session_state or ends != (low, high):
            st.session_state[f"{place}.ends"] = (low, high)
            st.session_state[place] = min(max(getattr(session, what), low), high)
        digits = 0 if step == 1 else max(0, -math.floor(math.log10(step)))
        form = f"%.{digits}f" if digits else "%d"
        value = st.slider(label, low, high, step=step, key=place, format=form)
        setattr(session, what, round(value, 10) if isinstance(value, float) else value)
