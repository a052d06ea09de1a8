"""The sidebar: widgets that read and write the session's choices."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import change_method
from rwn_ui.state.session import Session, first_setting
from rwn_ui.widgets import limits
from rwn_ui.widgets.folded import folded


def badge(session: Session) -> None:
    """Which table this is."""
    st.markdown(
        f"**{escaped(session.name)}** · {session.data.n:,} × {session.data.p}",
        help="Records × variables. The original stays on this machine.",
    )


def method(session: Session) -> None:
    """Which method masks; each has its own sliders."""
    keys, shown = list(rwn.METHODS), session.method
    own = f"method.{shown}.{session.edit_version}"

    def choose() -> None:
        # a browser may send the value of a list once more that has gone from the page
        if session.method == shown:
            change_method(session, first_setting(st.session_state[session.key(f"tune.{own}")]))

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
    box = folded("Variable weights", session.key("tune.weighing"))
    if box is None:
        return None
    box.caption(
        "Weight 2 doubles a variable’s differences, so donors are closer on it. Weight 0 ignores "
        "it "
        "in the distance. It is masked in both cases. `--weight 3=0` of the command line is the "
        "third variable here."
    )
    return box.container()


def pins(session: Session, put: Callable[[str], None]) -> None:
    """Put the current setting aside as A or B."""
    key = session.key("tune.pin")
    with st.container(horizontal=True, gap="small"):
        for name in "AB":
            st.button(
                f"Pin {name}",
                key=f"{key}.{name}",
                width="stretch",
                on_click=put,
                args=(name,),
                help=f"Keep this setting as {name}; tiles and map show the change against it.",
            )
        if session.pins:
            st.button("Clear", key=f"{key}.clear", width="stretch", on_click=session.pins.clear)


def extras(session: Session) -> None:
    """Seed, shown variable, projector mode, policy."""
    session.seed = int(
        st.number_input(
            "Seed of the trial",
            0,
            2**31 - 1,
            session.seed,
            key=session.key("tune.seed"),
            help="The same seed draws the same release, so charts move only when a "
            "parameter does. A seed is no secret.",
        )
    )
    names = [v.name for v in session.data.schema.released]
    session.variable = st.selectbox(
        "Variable of the distribution card",
        names,
        names.index(session.variable),
        key=session.key("tune.variable"),
        format_func=session.data.schema.called,
    )
    session.projector = st.toggle(
        "Projector mode",
        session.projector,
        key=session.key("tune.projector"),
        help="Two columns and large type for a meeting room.",
    )
    policy = folded("Policy: limits on risk", session.key("tune.policy"))
    if policy is not None:
        with policy:
            limits.edit(session, "tune")
