"""A box that is drawn inside only while it is open: each widget costs time on each run."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def folded(title: str, key: str, *, expanded: bool = False) -> DeltaGenerator | None:
    """The inside of a box with this title; None while it is closed."""
    box = st.expander(title, expanded=expanded, key=f"{key}.box", on_change="rerun")
    return box if box.open else None
