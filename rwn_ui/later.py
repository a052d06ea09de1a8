"""What a page shows a moment after its picture, because it takes longer on a large table."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.errors import StreamlitAPIException

import rwn_core as rwn

PENDING = rwn.NotApplicable("A moment: this takes longer on a large table.")
_STEP = 0.05  # seconds


def give_way(share: float = 0.0) -> None:
    """Streamlit stops a script that is to run again where it looks at the state."""
    st.session_state.get("rwn.later")


def rest(seconds: float) -> None:
    """Wait until the user has chosen nothing for a while; a choice ends the script here."""
    for _ in range(round(seconds / _STEP)):
        time.sleep(_STEP)
        give_way()


def again() -> None:
    """Draw once more what is being drawn: the part of a page that runs alone, or the page."""
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()
