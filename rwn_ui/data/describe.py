"""Takes up the same table under another description."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_ui.state.change_table import redescribe
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work


def describe_anew(session: Session, data: rwn.Microdata, *, by_grid: bool = False) -> None:
    """Go over to a description, and draw the page anew; nothing where it is on its way already."""
    coming = user_work().preparation
    if coming is not None and _same(coming.data, data):
        return
    if not any(v.masked for v in data.schema.released):
        raise ParameterError("No variable is chosen for masking; choose at least one.")
    redescribe(session, data, by_grid=by_grid)
    if user_work().preparation is None:
        st.toast("Every page now uses this description.", icon=":material/check:")
    st.rerun()


def _same(one: rwn.Microdata, other: rwn.Microdata) -> bool:
    return one.schema == other.schema and one.fingerprint == other.fingerprint
