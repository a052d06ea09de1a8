"""The method's levers as sliders: the same setting, moved from any page."""

from __future__ import annotations

import math

import streamlit as st

from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session


def draw(session: Session, page: str, but: str = "") -> None:
    """Take the sliders' values, and draw the sliders; one may be left out."""
    ranges = prepared(session).prepared.ranges
    # a value beyond the end was typed on Tune
    sliders = [
        (lever, ranges[lever.name].with_room_for(session.levers[lever.name]))
        for lever in session.params.levers
    ]
    # A choice that was changed elsewhere moves its slider; otherwise the slider moves the choice.
    for lever, ends in sliders:
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
    for lever, ends in sliders:
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
