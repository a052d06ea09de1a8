"""Levers and weights as sliders that redraw while they are dragged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.masking import Prepared, at_levers
from rwn_core.masking.lever import LeverRange
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.state.change_table import adopt_soon, set_setting
from rwn_ui.state.results import PreparedTable, memo, policy_presets, prepared
from rwn_ui.state.session import Session

LEVERS, WEIGHTS = "levers", "weights"
HIGHEST = 5.0  # where the slider of a weight ends; more can be typed
MOST = 100.0
PAIRED = 4  # weights from which on they stand in two columns
_DISTANCES = {
    "Standard": "Suggested: a weak strength of which one more release keeps all limits.",
    "Strong": "Suggested: a weak strength of which one more release uses at most 60 % of the worst "
    "limit.",
}


def apply_edit(session: Session, edit: Mapping[str, Any]) -> None:
    """Apply one edit of the browser: a preset, Undo, Redo, or positions of sliders."""
    history = session.history
    for what, step in (("undo", -1), ("redo", 1)):
        if what in edit and history.has(step):
            set_setting(session, history.go(step))
    if "preset" in edit:
        suggested = policy_presets(session).get(edit["preset"])
        if suggested is not None:
            set_setting(session, suggested)
    if WEIGHTS in edit:
        _weigh(session, edit[WEIGHTS], held=bool(edit.get("held")))
    ranges = prepared(session).prepared.ranges
    moved = edit.get(LEVERS, {})
    levers = session.levers | {name: x for name, x in moved.items() if name in ranges}
    clipped = {name: round(ranges[name].reach(value), 10) for name, value in levers.items()}
    # what a lever refuses, such as q < 1 of tied slices, is said at its slider
    taken = {name: x for name, x in clipped.items() if not refused_move(session, name, x)}
    session.move(**taken)


def refused_move(session: Session, name: str, value: float) -> str:
    """Why a lever cannot move to a value, in one sentence; empty where it can."""
    try:
        at_levers(session.params, {name: value})
    except rwn.ParameterError as refusal:
        return str(refusal)
    return ""


def _weigh(session: Session, moved: Mapping[str, float], *, held: bool) -> None:
    """Switch to other weights."""
    if held and session.data.n > LARGEST_DENSE:
        return  # it takes seconds, so that it waits for the last position
    weights = {v.name: v.weight for v in _coming(session).schema.released}
    wanted = {name: round(w, 10) for name, w in moved.items() if name in weights}
    if not any((weights | wanted).values()):
        raise rwn.ParameterError(
            "The weights are 0 for every variable; give at least one a positive weight."
        )
    if any(weights[name] != weight for name, weight in wanted.items()):
        own = sorted(each for each in (weights | wanted).items() if each[1] != 1.0)
        set_setting(session, replace(session.setting, weights=tuple(own)))
        adopt_soon(session)


def _coming(session: Session) -> rwn.Microdata:
    """The table with the weights that it has, or will have once it is prepared."""
    coming = session.user.work.preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        return coming.data
    return session.data


def controls(session: Session, table: PreparedTable) -> dict[str, Any]:
    """The sliders of the levers and of the weights, presets, Undo and Redo, as plain data."""
    return {LEVERS: _levers(session, table.prepared), WEIGHTS: _weights(session)}


def _levers(session: Session, table: Prepared) -> dict[str, Any]:
    """Sliders of the levers, with presets, Undo and Redo."""
    sliders = []
    levers = session.levers
    chosen = chosen_ranges(session, table.ranges)
    for lever in session.params.levers:
        present = table.ranges[lever.name]
        ends = chosen[lever.name]
        if ends.low == ends.high:
            ends = present
        note = refused_move(session, lever.name, ends.low)
        digits = 0 if lever.whole_number else max(0, -math.floor(math.log10(ends.step)))
        sliders.append(
            {
                "name": lever.name,
                "title": lever.title,
                "help": lever.help,
                "note": note,
                "low": ends.low,
                "high": ends.high,
                "most": max(ends.high, present.most or present.high),
                "step": ends.step,
                "digits": digits,
                "value": present.reach(levers[lever.name]),
            }
        )
    suggested = policy_presets(session)
    # only strengths that were judged are offered
    presets = [
        {
            "name": name,
            "help": _DISTANCES[name],
            "edit": {"preset": name},
            "chosen": session.setting == session.as_answered(setting),
        }
        for name, setting in suggested.items()
    ]
    help = "Every method, setting, weight and precision is kept."
    history = session.history
    steps = [
        {"name": "Undo", "help": help, "edit": {"undo": True}, "disabled": not history.has(-1)},
        {"name": "Redo", "help": help, "edit": {"redo": True}, "disabled": not history.has(1)},
    ]
    return _data(session, LEVERS, sliders, presets, steps)


def chosen_ranges(session: Session, present: Mapping[str, LeverRange]) -> Mapping[str, LeverRange]:
    """Return the ranges of the sliders, chosen once a table: other weights leave them alone.

    So a position that was left can be found again; what lies beyond the end can be typed.
    """
    chosen: Mapping[str, LeverRange] = memo(session, "ranges of sliders", 16).get_or_make(
        (session.table_version, session.method), lambda: present
    )
    return chosen


def _weights(session: Session) -> dict[str, Any]:
    """Sliders of the variables' weights, with a field for each to type one into."""
    sliders = [
        {
            "name": variable.name,
            "title": f"{number} · {session.data.schema.called(variable.name)}",
            "low": 0.0,
            "high": max(HIGHEST, variable.weight),
            "most": MOST,
            "step": 0.1,
            "digits": 2,
            "value": variable.weight,
        }
        for number, variable in enumerate(_coming(session).schema.released, start=1)
    ]
    return _data(session, WEIGHTS, sliders, [], []) | {"pairs": len(sliders) > PAIRED}


def _data(session: Session, kind: str, sliders: Any, presets: Any, steps: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "large": session.projector,
        "pairs": False,
        "sliders": sliders,
        "presets": presets,
        "steps": steps,
    }
