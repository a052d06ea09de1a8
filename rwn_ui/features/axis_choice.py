"""The risk on the map's axis: the policy, or one measure."""

from __future__ import annotations

from functools import partial

import streamlit as st

import rwn_core as rwn
from rwn_core.reporting.places_on_map import AXIS, POLICY
from rwn_ui.state.session import Session

VIEW = "tune.risk"
CHOICES = (
    POLICY,
    *(
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.is_share
    ),
)
"""The policy, and the risk measures of shares of which less is better, in their order."""


def measure(session: Session) -> str:
    """Return the measure on the axis, or `POLICY`."""
    chosen = session.views.get(VIEW)
    return chosen if chosen in CHOICES else POLICY


def wanted(session: Session) -> tuple[str, ...]:
    """Return the measures that tiles and map need: those of the limits, and the chosen one."""
    chosen, limits = measure(session), session.policy.measures
    return limits if chosen == POLICY or chosen in limits else (*limits, chosen)


def title(key: str, records: int) -> str:
    """Title of an axis: a worst case only if every point is one."""
    return AXIS if key == POLICY else rwn.MEASURES[key].title_for(records)


def choose(session: Session, *, live: bool) -> None:
    """Draw the select box; `live` if every limit is read with each move."""
    slower = f" With {session.data.n:,} records, slower limits follow when the sliders stop."
    session.views[VIEW] = st.selectbox(
        "Risk on the map",
        CHOICES,
        CHOICES.index(measure(session)),
        format_func=partial(title, records=session.data.n),
        key=session.key("tune.risk"),
        help="The policy judges by all of its limits; a single measure says nothing of the others. "
        "Worst-case linkage is an intruder who holds the original file: the best of three attacks. "
        "Distance linkage is an ordinary intruder." + ("" if live else slower),
    )
