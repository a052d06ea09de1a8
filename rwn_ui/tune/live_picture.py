"""A move of a slider is answered with its picture alone, and so is what a picture waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rwn_core.errors import RWNError
from rwn_ui.features import limit_queue
from rwn_ui.panel import written
from rwn_ui.panel.live_sliders import Move
from rwn_ui.server.endpoint import STATE_KEY
from rwn_ui.server.sweeper import WORK
from rwn_ui.state.results import (
    RESULTS,
    current_release,
    is_drawn,
    prepared,
    user_results,
)
from rwn_ui.state.session import Session
from rwn_ui.state.user import as_user, user_endpoint
from rwn_ui.state.work import user_work
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders


def answer_moves(session: Session) -> None:
    """Answer moves until the page is drawn again; called when all of it is."""
    state = {RESULTS: user_results(), WORK: user_work(), STATE_KEY: user_endpoint()}
    user_endpoint().open(partial(_answer, session, state))


def _answer(
    session: Session, state: Mapping[str, Any], question: Mapping[str, Any]
) -> bytes | None:
    """The picture that is asked for; None where a run has to draw it."""
    with as_user(state):
        if user_work().preparation is not None:
            return None
        if session.analysis_plan.analyses:  # they are run, and say so
            return None
        if "move" in question:
            return on_move(session, question["key"], Move.from_json(question["move"]))
        return on_poll(session, question["waits"])


def on_move(session: Session, key: str, move: Move) -> bytes | None:
    """The picture of a move; None where it is a search, or needs more than a picture."""
    if move.preset:  # sliders that nobody moved have to follow at once
        return None
    try:
        if not live_sliders.apply_move(session, "tune", key, move):
            return None
    except RWNError:  # a run says why
        return None
    if not prepared(session).is_quick(session.masking):
        return None
    queued = not move.dragging and limit_queue.prefetch_limits(session)
    shown = render(session)
    if not move.dragging:
        session.record_undo()
    if queued and shown["again"]:
        shown["again"] = limit_queue.POLL
    return written(shown)


def on_poll(session: Session, waits: Sequence[str]) -> bytes | None:
    """The picture with what was waited for; empty until it has arrived, None where a run begins."""
    if not is_drawn(session):
        return None
    if not limit_queue.follow(session, begin=False):
        return None
    limit_queue.complete_pins(session)
    readings = limit_queue.readings(session, current_release(session))
    if limit_queue.pending_keys(session, readings) == waits:
        return b""
    shown = render(session)
    if shown["again"]:
        shown["again"] = limit_queue.POLL
    return written(shown)


def render(session: Session) -> dict[str, Any]:
    """The picture of the present setting, kept for the run that follows."""
    shown = user_results().last["tune"] = view.payload(session, current_release(session))
    return shown
