"""The method's levers as sliders: the same setting, moved from any page."""

from __future__ import annotations

import math

import streamlit as st

from rwn_core.masking import Lever, LeverRange
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session


def _sliders(session: Session) -> list[tuple[Lever, LeverRange]]:
    """The levers of the method, with their ends on this table."""
    ranges = prepared(session).prepared.ranges
    return [(lever, ranges[lever.name]) for lever in session.params.levers]


def apply_values(session: Session, page: str) -> None:
    """Take the sliders' values before they are drawn, so that a picture can come first."""
    # A choice that was changed elsewhere moves its slider; otherwise the slider moves the choice.
    for lever, ends in _sliders(session):
        key = session.key(f"{page}.{lever.name}")
        chosen = session.levers[lever.name]
        # a slider of another range is another widget to Streamlit, which would start at its low end
        known = st.session_state.get(f"{key}.known") == (ends, chosen)
        if key not in st.session_state or not known:
            st.session_state[key] = ends.clip(chosen)
        value = st.session_state[key]
        chosen = round(value, 10) if isinstance(value, float) else value
        st.session_state[f"{key}.known"] = (ends, chosen)
        session.move(**{lever.name: chosen})  # last, or a run that is cut short would lose it


def show(session: Session, page: str, but: str = "") -> None:
    """Draw the sliders, after `apply_values`; one may be left out."""
    for lever, ends in _sliders(session):
        if lever.name == but:
            continue
        if ends.low == ends.high:
            st.text(f"{lever.title}: {ends.high}")
            continue
        digits = max(0, -math.floor(math.log10(ends.step)))
        st.slider(
            lever.title,
            ends.low,
            ends.high,
            step=ends.step,
            key=session.key(f"{page}.{lever.name}"),
            help=lever.help,
            format="%d" if lever.whole_number else f"%.{digits}f",
        )


def choose_axis(session: Session, label: str, key: str) -> None:
    """Choose the lever along which curves run."""
    titles = {lever.name: lever.title.partition(" (")[0] for lever in session.params.levers}
    session.curve_axis = st.selectbox(
        label,
        list(titles),
        list(titles).index(session.curve_axis),
        format_func=titles.__getitem__,
        key=key,
    )


def draw(session: Session, page: str, but: str = "") -> None:
    """Apply the values and draw the sliders; one may be left out."""
    apply_values(session, page)
    show(session, page, but)
