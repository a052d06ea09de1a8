"""Takes a setting from elsewhere over to the Tune page."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.masking import fixed_options, lever_values
from rwn_core.tuning import Setting
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import apply_choice
from rwn_ui.state.session import Choice, Session


def load(session: Session, setting: Setting) -> None:
    """Make a setting the present one, and say so or why not."""
    try:
        take_over(session, setting)
    except rwn.RWNError as refusal:
        st.toast(escaped(str(refusal)))
        return
    st.toast(escaped(f"Loaded into Tune: {session.words}"), icon=":material/tune:")


def take_over(session: Session, setting: Setting) -> None:
    """Make a setting the present one; Undo on the Tune page brings the old one back."""
    params, levers = setting.params, lever_values(setting.params)
    if setting.method not in rwn.METHODS or not all(map(_is_position, levers.values())):
        raise ParameterError(f"Sliders cannot show the setting {setting.words}.")
    slices = setting.resolved(session.data).slices or ()
    options = tuple(fixed_options(params).items())
    session.record_undo()
    apply_choice(
        session,
        Choice(
            method=setting.method,
            levers=tuple(levers.items()),
            options=options,
            weights=setting.weights,
            precision=setting.precision,
            slices=slices,
        ),
    )
    session.record_undo()


def _is_position(value: object) -> bool:
    """True for a position of a slider: a number, or None for its low end."""
    return value is None or isinstance(value, int | float)
