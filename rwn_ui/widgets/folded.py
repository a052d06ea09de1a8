"""A box that is drawn inside only while it is open: each widget costs time on each run."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def folded(title: str, key: str, *, expanded: bool = False) -> DeltaGenerator | None:
    """The inside of a box with this title; None while it is closed."""
    state, known = f"{key}.box", f"{key}.title"
    if state in st.session_state and st.session_state.get(known, title) != title:
        st.session_state[state] = st.session_state[state]  # another title would fold it up
    st.session_state[known] = title
    box = st.expander(title, expanded=expanded, key=state, on_change="rerun")
    return box if box.open else None
