"""Levers and weights as sliders that redraw while they are dragged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.panel.live_sliders import Move, last_move, live_sliders
from rwn_ui.server.endpoint import ADDRESS
from rwn_ui.state.change_table import adopt_soon, reweigh
from rwn_ui.state.results import prepared, user_results
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

LEVERS, WEIGHTS = "levers", "weights"
HIGHEST = 5.0  # where the slider of a weight ends; more can be typed
MOST = 100.0


def _key(session: Session, page: str, what: str) -> str:
    return f"{page}.{session.table_version}.{what}"


def apply_moves(session: Session, page: str) -> bool:
    """Take what was moved, before anything is drawn; whether a slider is still being dragged."""
    moves = {what: last_move(_key(session, page, what)) for what in (LEVERS, WEIGHTS)}
    last, new = user_results().last, dict[str, Move]()
    for what, move in moves.items():
        if move is not None and last.get(f"{_key(session, page, what)}.heard") != move.stamp:
            new[what] = move
    try:
        if WEIGHTS in new:
            _weigh(session, new[WEIGHTS])
    finally:
        _set_levers(session, new.get(LEVERS))
        for what, move in new.items():  # a refusal is an answer, too
            last[f"{_key(session, page, what)}.heard"] = move.stamp
            if not move.idle:
                last[_key(session, page, what)] = move.stamp
    return any(move.dragging for move in moves.values() if move is not None)


def apply_move(session: Session, page: str, key: str, move: Move) -> bool:
    """Apply a move sent to the endpoint; True if it was one of these sliders, and at once."""
    if key == _key(session, page, LEVERS):
        if not {lever.name for lever in session.params.levers}.issuperset(move.values):
            return False
        _set_levers(session, move)
    elif key == _key(session, page, WEIGHTS) and session.data.n <= LARGEST_DENSE:
        _weigh(session, move)
        _set_levers(session, None)
    else:
        return False
    user_results().last[key] = move.stamp
    return True


def _set_levers(session: Session, move: Move | None) -> None:
    """Bring the levers to where they were moved, inside of what other weights leave of their ends.

    The state is read before the choice is changed, or a run that is cut short would lose the move.
    """
    table = prepared(session).prepared
    ranges, moved = table.ranges, {} if move is None else move.values
    if move is not None and move.preset is not None and move.preset in table.presets:
        session.use_preset(move.preset, table)
    for lever in session.params.levers:
        value = moved.get(lever.name, session.levers[lever.name])
        session.levers[lever.name] = lever.value(round(ranges[lever.name].clip(value), 10))


def _weigh(session: Session, move: Move) -> None:
    """Switch to other weights."""
    if move.dragging and session.data.n > LARGEST_DENSE:
        return  # it takes seconds, so that it waits for the last position
    coming = _coming(session)
    weights = {v.name: v.weight for v in coming.schema.released}
    wanted = {name: round(w, 10) for name, w in move.values.items() if name in weights}
    if not any((weights | wanted).values()):
        raise ParameterError(
            "The weights are 0 for every variable; give at least one a positive weight."
        )
    if any(weights[name] != weight for name, weight in wanted.items()):
        reweigh(session, weights | wanted)
        adopt_soon(session)


def _coming(session: Session) -> rwn.Microdata:
    """The table with the weights that it has, or will have once it is prepared."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        return coming.data
    return session.data


def show_levers(session: Session, page: str, token: str = "") -> None:
    """Draw the sliders of the levers and three presets, after `apply_moves`.

    With the token of `Endpoint` they ask for their picture there.
    """
    table = prepared(session).prepared
    ranges, sliders = table.ranges, []
    for lever in session.params.levers:
        ends = ranges[lever.name]
        digits = 0 if lever.whole_number else max(0, -math.floor(math.log10(ends.step)))
        sliders.append(
            {
                "name": lever.name,
                "title": lever.title,
                "help": lever.help,
                "low": ends.low,
                "high": ends.high,
                "step": ends.step,
                "digits": digits,
                "value": ends.clip(session.levers[lever.name]),
            }
        )
    shown = {name: round(value, 10) for name, value in session.levers.items()}
    presets = [
        {
            "name": name,
            "help": "A starting point fitted to this table's distances.",
            "chosen": levers == shown,
        }
        for name, levers in table.presets.items()
    ]
    _show(session, page, LEVERS, sliders, presets, token)


def show_weights(session: Session, page: str, token: str = "") -> None:
    """The sliders of the variables' weights, with a field for each to type one into.

    With the token of `Endpoint` they ask for their picture there.
    """
    sliders = [
        {
            "name": variable.name,
            "title": variable.name,
            "low": 0.0,
            "high": max(HIGHEST, variable.weight),
            "most": MOST,
            "step": 0.1,
            "digits": 2,
            "value": variable.weight,
        }
        for variable in _coming(session).schema.released
    ]
    _show(session, page, WEIGHTS, sliders, token=token)


def _show(
    session: Session,
    page: str,
    what: str,
    sliders: list[dict[str, Any]],
    presets: Sequence[Mapping[str, Any]] = (),
    token: str = "",
) -> None:
    endpoint = {"address": ADDRESS, "token": token} if token else None
    key = _key(session, page, what)
    answered = str(user_results().last.get(key, ""))
    large = session.projector
    live_sliders(
        sliders, key=key, answered=answered, large=large, presets=presets, endpoint=endpoint
    )
