"""What many draws of the setting on screen say: intervals for tiles, points for the map."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from rwn_core.ensemble import Ensemble, middle_share
from rwn_ui.session import Session

PLACE = "utility.desk"
FIRST_OF = {"principal_components": "share_released"}
"""Where a tile shows the first number of a part of the detail, and not the value."""


def setting_of(session: Session) -> tuple[Any, ...]:
    """What draws of a setting have in common: weights, kinds and parameters."""
    return (session.data.fingerprint, session.data.schema, session.params)


def drawn(session: Session) -> Ensemble | None:
    """The draws of the setting on screen, where the user has asked for them."""
    desk = st.session_state.get(PLACE)
    found: Ensemble | None = None if desk is None else desk.ensembles.get(setting_of(session))
    return found


def interval(session: Session, measure: str) -> tuple[float, float] | None:
    """Where 9 of 10 draws fall with what the measure's tile shows."""
    made = drawn(session)
    if made is None or measure not in made.values:
        return None
    if measure not in FIRST_OF:
        return made.interval(measure)
    return middle_share(np.asarray(made.parts[measure][FIRST_OF[measure]])[:, 0])


def spots(session: Session, risk: str = "distance_linkage") -> list[dict[str, Any]]:
    """Every draw as a point of the risk-utility map with this measure as the risk."""
    made = drawn(session)
    if made is None or not {"correlation", risk} <= set(made.values):
        return []
    pairs = zip(made.values["correlation"], made.values[risk], strict=False)
    return [
        {"utility": 1 - float(loss), "risk": float(value), "text": "another draw of this setting"}
        for loss, value in pairs
    ]
