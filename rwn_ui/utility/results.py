"""Reads what the Utility page shows of a release, and what to expect of its setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.two_way import two_way
from rwn_core.masking import lever_values
from rwn_ui.state.results import (
    CurrentRelease,
    full_release,
    full_table,
    memo,
    release_key,
    table_key,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import Memo

SLOW = {key for key, each in rwn.MEASURES.items() if each.side == "utility" and each.is_slow}
"""On a large table they follow after the first picture."""
PENDING = rwn.NotApplicable("A moment: this takes longer on a large table.")

Answer = rwn.Reading[Any] | rwn.NotApplicable
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityReadings:
    """The release on screen and what all utility measures say about it."""

    comparison: rwn.Comparison
    readings: Mapping[str, Answer]
    relation: Answer  # of the two variables on screen
    now: Forecast | None  # of the setting
    pending: bool  # whether something of a large table is still missing: see `complete`


def read(session: Session, slot: DeltaGenerator | None = None) -> UtilityReadings:
    """Read every utility measure; what was read before is not read again."""
    current, held = full_release(session, slot), _stored(session)
    comparison = current.comparison
    key, pair = release_key(session), session.pair
    waits = full_table(session).slow
    readings = {
        **current.readings,
        **held.get_or_make(("readings", key), lambda: _read(current, slow=False)),
    }
    pending = waits and ("slow", key) not in held
    readings |= dict.fromkeys(SLOW, PENDING) if pending else _slow(session, current)
    unknown = not _is_expected(session)
    missing = waits and not unknown and _now_key(session) not in held
    return UtilityReadings(
        comparison=comparison,
        readings=readings,
        relation=held.get_or_make((*pair, key), lambda: _or_reason(two_way, comparison, *pair)),
        now=None if missing or unknown else _now(session),
        pending=pending or missing,
    )


def complete(session: Session) -> None:
    """Slow readings of a large table; cancelled by a newer choice of the user."""
    if _is_expected(session):
        _now(session, _give_way)
    _slow(session, full_release(session))


def _give_way(share: float) -> None:
    """Streamlit stops a script that is to run again where it looks at the state."""
    _ = st.session_state.get("utility")


def _stored(session: Session) -> Memo:
    return memo(session, "utility", 40)


def _read(current: CurrentRelease, *, slow: bool) -> dict[str, Answer]:
    shown = current.readings
    return {
        key: shown[key] if key in shown else measure.read(current.comparison, bare=True)
        for key, measure in rwn.MEASURES.items()
        if measure.side == "utility" and not measure.of_holdout and (key in SLOW) is slow
    }


def _slow(session: Session, current: CurrentRelease) -> dict[str, Answer]:
    return _stored(session).get_or_make(
        ("slow", release_key(session)), lambda: _read(current, slow=True)
    )


def _or_reason(work: Any, *arguments: Any, **named: Any) -> Answer:
    try:
        reading: rwn.Reading = work(*arguments, **named)
    except rwn.NotApplicable as reason:
        return rwn.NotApplicable(reason.reason)
    return reading


# ---------------------------------------------------------------- what is expected


def _is_expected(session: Session) -> bool:
    """True if the setting has closed forms, and the neighbors that they need are stored."""
    start, params = full_table(session).prepared, session.params
    if not params.has_forecast or not start.masks_all_records:
        return False
    return start.with_levers(**lever_values(params)).is_quick


def _now_key(session: Session) -> tuple[Any, ...]:
    return ("now", *table_key(session.data), session.params)


def _now(session: Session, progress: Progress | None = None) -> Forecast:
    """Expectation of the current setting."""

    def make() -> Forecast:
        start, params = full_table(session).prepared, [session.params]
        return forecast_scan(session.data, params, prepared=start, progress=progress)[0]

    return _stored(session).get_or_make(_now_key(session), make)
