"""Takes a setting from elsewhere over to the Tune page."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.tuning import Setting
from rwn_ui.messages import plain
from rwn_ui.state.change_table import take
from rwn_ui.state.history import Choice
from rwn_ui.state.session import Session


def load(session: Session, setting: Setting) -> None:
    """Make a setting the present one; Undo on the Tune page brings the old one back."""
    params = setting.params
    if setting.method != "rwn":
        st.toast(plain(f"Tune shows the method rwn, not {setting.words}."))
        return
    try:
        setting.resolved(session.data)
    except rwn.RWNError as refusal:  # of another table
        st.toast(plain(str(refusal)))
        return
    session.note()
    take(
        session,
        Choice(
            epsilon=params.epsilon or 0.0,
            k=params.k or 1,
            q=params.q,
            weights=setting.weights,
            precision=setting.precision,
        ),
    )
    session.note()
    st.toast(plain(f"Loaded into Tune: {session.words}"), icon=":material/tune:")
