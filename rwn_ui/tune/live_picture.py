"""A move of a slider is answered with its picture alone, and so is what a picture waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rwn_core.errors import RWNError
from rwn_ui.features import pins, risk_axis
from rwn_ui.panel import written
from rwn_ui.panel.live_sliders import Move
from rwn_ui.state.kept import beside
from rwn_ui.state.live_answers import own_answers
from rwn_ui.state.results import (
    RESULTS,
    current_release,
    is_at_hand,
    is_drawn,
    is_looked_up,
    own_results,
    prepared,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import WORK, own_work
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders


def answer_moves(session: Session) -> None:
    """Answer moves until the page is drawn again; called when all of it is."""
    given = {RESULTS: own_results(), WORK: own_work()}
    own_answers().begin(partial(_answer, session, given))


def _answer(
    session: Session, given: Mapping[str, Any], question: Mapping[str, Any]
) -> bytes | None:
    """The picture that is asked for; None where a run has to draw it."""
    with beside(given):
        if own_work().preparation is not None or not is_at_hand(session):
            return None
        if session.analysis_plan.analyses:  # they are run, and say so
            return None
        if "move" in question:
            return _moved(session, question["key"], Move.told(question["move"]))
        return _arrived(session, question["waits"])


def _moved(session: Session, key: str, move: Move) -> bytes | None:
    """The picture of a move; None where it is a search, or needs more than a picture."""
    if move.preset:  # sliders that nobody moved have to follow at once
        return None
    try:
        if not live_sliders.take_beside(session, "tune", key, move):
            return None
    except RWNError:  # a run says why
        return None
    if not prepared(session).is_quick(session.masking, session.seed):
        return None
    begun = not move.dragging and not is_looked_up(session) and risk_axis.begin_ahead(session)
    shown = _drawn(session)
    if not move.dragging:
        session.note()
    if begun and shown["again"]:
        shown["again"] = risk_axis.BESIDE
    return written(shown)


def _arrived(session: Session, waits: Sequence[str]) -> bytes | None:
    """The picture with what was waited for; empty until it has arrived, None where a run begins."""
    if is_looked_up(session) or not is_drawn(session):
        return None
    if not risk_axis.follow(session, begin=False):
        return None
    pins.complete_pins(session)
    readings = risk_axis.readings(session, current_release(session))
    if risk_axis.waits(session, readings) == waits:
        return b""
    shown = _drawn(session)
    if shown["again"]:
        shown["again"] = risk_axis.BESIDE
    return written(shown)


def _drawn(session: Session) -> dict[str, Any]:
    """The picture of the present setting, kept for the run that follows."""
    shown = own_results().last["tune"] = view.payload(session, current_release(session))
    return shown
