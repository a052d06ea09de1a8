"""Release precision: one choice for all numbers, or a step for each variable."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from rwn_core.data.rounding import SHARES, Steps, given_steps, rounded_share, steps_by_name
from rwn_ui.state.session import Session
from rwn_ui.widgets.folded import folded

CHOICES = {f"{share:g} SD" if share else "not rounded": share for share in SHARES}
"""Steps for all numbers, in standard deviations of each."""
OWN = "own steps"


def draw(session: Session, page: str) -> None:
    """The choice and the table of steps; they belong to the setting, on every page."""
    if not session.data.numeric_names:
        return
    key = session.key(f"{page}.precision")
    box = folded("Release precision", key, expanded=page == "risk")
    if box is not None:
        with box:
            _all(session, f"{key}.all")
            _each(session, key)


def _steps(session: Session, words: str) -> Steps:
    return steps_by_name(given_steps(session.data, CHOICES[words]))


def _all(session: Session, key: str) -> None:
    """One choice for all numbers; the table below then shows the steps."""
    last, own = f"{key}.last", f"{key}.own"
    # Undo makes another slider: a browser that has not yet heard of it sends the old one's value
    key = f"{key}.{session.edit_version - st.session_state.get(own, 0)}"

    def choose() -> None:
        words = st.session_state[last] = st.session_state[key]
        if words in CHOICES:
            before = session.edit_version
            steps = _steps(session, words)
            session.keep_asked_steps(steps)
            session.set(replace(session.setting, precision=steps))
            st.session_state[own] = st.session_state.get(own, 0) + session.edit_version - before

    # two choices may have the same steps: the last one then stays, or none beyond can be reached
    now = st.session_state.get(last)
    if now not in CHOICES or _steps(session, now) != session.precision:
        share = rounded_share(session.data, session.precision)
        now = next((words for words, known in CHOICES.items() if known == share), OWN)
    st.session_state[key] = now
    st.select_slider(
        "Steps for all numbers",
        [*CHOICES, *([OWN] if now == OWN else [])],
        key=key,
        on_change=choose,
        help="Rounding is a measure in addition to larger neighborhoods. A rounded value "
        "identifies "
        "fewer people, but an intruder combines the values of a row: look at the risk. SD is each "
        "variable's standard deviation; steps are the nearest readable ones. Charts, risk, "
        "download and scenarios use them.",
    )


def _each(session: Session, key: str) -> None:
    """The step of each variable."""
    names = list(session.data.numeric_names)
    known = dict(session.precision)
    start, editor = (f"{key}.{what}.{session.edit_version}" for what in ("start", "steps"))
    # a visit to another page drops the edits, but not the steps that they made
    if start not in st.session_state or editor not in st.session_state:
        steps = pd.Series([known.get(name) for name in names], dtype="float64")
        st.session_state[start] = pd.DataFrame({"variable": names, "step": steps})
    edited = st.data_editor(
        st.session_state[start],
        hide_index=True,
        height=min(260, 37 + 35 * len(names)),
        disabled=["variable"],
        key=editor,
        placeholder="not rounded",
        column_config={
            "step": st.column_config.NumberColumn(
                "in steps of", min_value=0.0, help="In the variable's own unit; empty: not rounded."
            )
        },
    )
    pairs = zip(names, edited["step"].tolist(), strict=True)
    chosen = steps_by_name({name: step for name, step in pairs if pd.notna(step) and step})
    if chosen != session.precision:
        session.keep_asked_steps(chosen)
        session.setting = replace(session.setting, precision=chosen)
        st.rerun()  # the choice for all numbers is drawn already
