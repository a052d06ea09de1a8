"""A move of a slider is answered with its picture alone; the rest of the page follows at rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rwn_core.errors import RWNError
from rwn_ui.panel import written
from rwn_ui.panel.live_sliders import Move
from rwn_ui.state.kept import beside
from rwn_ui.state.live_answers import own_answers
from rwn_ui.state.results import RESULTS, current_release, is_at_hand, own_results, prepared
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
    """The picture of a move; None where it is a search, or needs more than a picture."""
    with beside(given):
        if own_work().preparation is not None or not is_at_hand(session):
            return None
        if session.analysis_plan.analyses:  # they are run, and say so
            return None
        move = Move.told(question["move"])
        if move.preset:  # sliders that nobody moved have to follow at once
            return None
        try:
            if not live_sliders.take_beside(session, "tune", question["key"], move):
                return None
        except RWNError:  # a run says why
            return None
        if not prepared(session).is_quick(session.masking):
            return None
        shown = view.payload(session, current_release(session))
        own_results().last["tune"] = shown
        if not move.dragging:
            session.note()
        return written(shown)
