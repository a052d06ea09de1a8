"""Reads what the Utility page shows of a release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.evaluation.two_way import two_way
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.features import analysis_plan_results, repeated_draws
from rwn_ui.state.results import (
    CurrentRelease,
    Snapshot,
    full_release,
    memo,
    release_key,
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
    current = full_release(session, slot)
    held = _stored(session)
    comparison = current.comparison
    key = release_key(session)
    pair = session.pair
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
    return Snapshot.take(
        session,
        current,
        readings,
        pending=pending,
        plan=analysis_plan_results.verdicts(session, comparison),
        **repeated_draws.found(session),
    )


def complete(session: Session) -> None:
    """Read what is slow of a large table."""
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
