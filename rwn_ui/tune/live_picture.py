"""Answers the browser's edits with a picture, and a waiting post with what a picture lacks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import RWNError
from rwn_ui.features import advice, limit_queue
from rwn_ui.server.endpoint import ADDRESS, STATE_KEY
from rwn_ui.server.sweeper import WORK
from rwn_ui.state.prepared_table import CurrentRelease
from rwn_ui.state.results import RESULTS, current_release, is_drawn, prepared, user_results
from rwn_ui.state.session import Session
from rwn_ui.state.user import as_user, user_endpoint
from rwn_ui.state.work import user_work
from rwn_ui.tune import tiles, view
from rwn_ui.widgets import live_sliders

AT_REST_S = 0.6  # without an edit, before curves are read


def open_endpoint(session: Session) -> dict[str, str]:
    """Answer the page from now on; where and by which token it asks."""
    state = {RESULTS: user_results(), WORK: user_work(), STATE_KEY: user_endpoint()}
    user_endpoint().open(partial(_answer, session, state))
    table = str(session.table_version)
    return {"address": ADDRESS, "token": user_endpoint().token, "table": table}


def _answer(
    session: Session, state: Mapping[str, Any], question: Mapping[str, Any]
) -> bytes | None:
    """The picture after some edits, or with what was waited for; None where a run draws it."""
    with as_user(state):
        if question["table"] != str(session.table_version):
            return None
        if "edits" in question:
            return on_edits(session, question["edits"])
        return on_wait(session, question["seq"])


def on_edits(session: Session, edits: Sequence[Mapping[str, Any]]) -> bytes | None:
    """The picture after some edits; None where one is refused, or the search is shown by a run."""
    try:
        apply_edits(session, edits)
    except RWNError:  # a run says why
        return None
    table = prepared(session)
    if len(table.prepared.records) > LIVE_RECORDS and not table.is_quick(session.masking):
        return None
    return after_edits(session)


def after_edits(session: Session) -> bytes:
    """The picture of the present setting, while a slider may still be dragged."""
    current = current_release(session)
    if not user_results().last.get("held"):
        limit_queue.prefetch_limits(session, current)
    return orjson.dumps(message(session, render(session, current)))


def apply_edits(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits in their order; each that is not held can be undone."""
    last = user_results().last
    for edit in edits:
        last["held"] = bool(edit.get("held"))
        live_sliders.apply_edit(session, edit)
        last["edited"] = time.monotonic()
        last["lever"] = next(iter(edit.get(live_sliders.LEVERS, {})), last.get("lever"))
        note_choice(session)


def note_choice(session: Session) -> None:
    """Record an undo step, unless a slider is dragged or its table is being prepared."""
    if not user_results().last.get("held") and user_work().preparation is None:
        session.record_undo()


def take(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits that could not be posted; the run that follows draws them, or says why not."""
    with user_endpoint().paused():
        try:
            apply_edits(session, edits)
            if not edits and is_drawn(session):  # a wait that could not be posted
                limit_queue.follow(session)
                advice.follow(session)
        except Exception as refusal:  # a callback must not fail
            user_results().last["refusal"] = refusal


def on_wait(session: Session, seq: int) -> bytes | None:
    """The picture with what was waited for, empty until it has arrived; None after a newer one."""
    last = user_results().last
    if seq != user_endpoint().seq or "tune" not in last or not is_drawn(session):
        return None
    limit_queue.follow(session)
    limit_queue.complete_pins(session)
    advice.follow(session)
    if time.monotonic() - last.get("edited", 0.0) > AT_REST_S:
        tiles.extend_curves(session)
    current = current_release(session)
    if view.pending(session, limit_queue.readings(session, current)) == last["tune"]["waits"]:
        return b""
    return orjson.dumps(message(session, render(session, current)))


def render(session: Session, current: CurrentRelease) -> dict[str, Any]:
    """The picture of the present setting, kept for the runs that follow."""
    shown = user_results().last["tune"] = view.payload(session, current)
    return shown


def message(session: Session, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return a picture with its number, the controls, and whether the page has to run again."""
    return {
        **shown,
        "seq": user_endpoint().next_seq(),
        "controls": live_sliders.controls(session),
        "page": user_results().last.get("page") != page_state(session),
    }


def page_state(session: Session) -> tuple[Any, ...]:
    """Return the choices that the page shows outside of the picture and its controls."""
    choice = session.method, session.options, session.precision, session.slices
    asked, coming = session.data.schema.question, user_work().preparation is not None
    return *choice, asked, session.edit_version, coming, advice.start(session) is not None
