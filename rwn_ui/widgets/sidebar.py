"""The sidebar: widgets that read and write the session's choices."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.session import KEPT, Session, first_setting
from rwn_ui.widgets.folded import folded

IN_VIEW = 16  # variables up to which their weights are not folded away


def badge(session: Session) -> None:
    """Which table this is."""
    st.markdown(
        f"**{escaped(session.name)}** · {session.data.n:,} × {session.data.p}",
        help="Records × variables. The original stays on this machine.",
    )


def method(session: Session) -> None:
    """Which method masks; each has its own sliders."""
    keys = list(rwn.METHODS)
    shown = session.method
    own = f"method.{shown}.{session.edit_version}"

    def choose() -> None:
        # a browser may send the value of a list once more that has gone from the page
        if session.method == shown:
            chosen = first_setting(st.session_state[session.key(f"tune.{own}")])
            set_setting(session, replace(session.setting, params=chosen), KEPT, "Standard")

    st.selectbox(
        "Method",
        keys,
        keys.index(shown),
        format_func=lambda key: rwn.METHODS[key].title,
        key=session.key(f"tune.{own}"),
        on_change=choose,
        help="Every card, page and download follows the chosen method.",
    )


def weights(session: Session) -> DeltaGenerator | None:
    """Container for the sliders of the weights; None if the method has no distances."""
    if not rwn.METHODS[session.method].uses_weights:
        return None
    few = len(session.data.schema.released) <= IN_VIEW
    box = folded("Variable weights", session.key("tune.weighing"), expanded=few)
    if box is None:
        return None
    below = box.container()
    box.caption(
        "2 doubles a variable’s differences, 0 ignores them.",
        help="Weight 2 doubles a variable’s differences, so donors are closer on it. Weight 0 "
        "ignores it in the distance. It is masked in both cases.",
    )
    return below


def choose_variable(session: Session, label: str, key: str) -> None:
    """The variable of the distribution card."""
    schema = session.data.schema
    names = [v.name for v in schema.released]
    session.variable = st.selectbox(
        *(label, names, names.index(session.variable)),
        key=session.key(key),
        format_func=schema.called,
    )


def shown(session: Session) -> None:
    """The variable of the distribution card, and large type."""
    choose_variable(session, "Variable of the distribution card", "tune.variable")
    session.projector = st.toggle(
        "Projector mode",
        session.projector,
        key=session.key("tune.projector"),
        help="Two columns and large type for a meeting room.",
    )
