"""Reads what the Utility page shows of a release, and what to expect of its setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.two_way import two_way
from rwn_core.masking import lever_values
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.features import analysis_plan_results, repeated_draws
from rwn_ui.state.results import (
    CurrentRelease,
    Snapshot,
    full_release,
    full_table,
    memo,
    release_key,
    table_key,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import Memo

SLOW = tuple(k for k, each in rwn.MEASURES.items() if each.side == "utility" and each.is_slow)
"""On a large table they follow after the first picture."""
PENDING = rwn.NotApplicable("A moment: this takes longer on a large table.")

TWO_WAY = "two_way"  # the relation, among the readings
Answer = rwn.Reading[Any] | rwn.NotApplicable
Progress = Callable[[float], None]


def read(session: Session, slot: DeltaGenerator | None = None) -> Snapshot:
    """Read every utility measure; what was read before is not read again.

    `pending` names what of a large table is still missing, for `complete`. The relation of the two
    variables on screen is a reading, too.
    """
    current, held = full_release(session, slot), _stored(session)
    comparison = current.comparison
    key, pair = release_key(session), session.pair
    waits = session.data.n > LARGEST_DENSE  # preparing it takes seconds
    readings = {
        **current.readings,
        **held.get_or_make(("readings", key), lambda: _read(current, slow=False)),
    }
    pending = SLOW if waits and ("slow", key) not in held else ()
    readings |= dict.fromkeys(pending, PENDING) if pending else _slow(session, current)

    def relation() -> Answer:
        try:
            return two_way(comparison, *pair)
        except rwn.NotApplicable as reason:
            return rwn.NotApplicable(reason.reason)

    readings[TWO_WAY] = held.get_or_make((*pair, key), relation)
    unknown = not _is_expected(session)
    missing = waits and not unknown and _now_key(session) not in held
    return Snapshot.take(
        session,
        current,
        readings,
        pending=(*pending, *(["forecast"] * missing)),
        plan=analysis_plan_results.verdicts(session, comparison),
        expected=None if missing or unknown else _now(session),
        **repeated_draws.found(session),
    )


def complete(session: Session) -> None:
    """Slow readings of a large table; cancelled by a newer choice of the user."""
    if _is_expected(session):
        # Streamlit stops a script that is to run again where it looks at the state
        _now(session, lambda _: st.session_state.get("utility"))
    _slow(session, full_release(session))


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
