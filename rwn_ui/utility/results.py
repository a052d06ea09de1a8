"""Reads what the Utility page shows of a release, and what to expect of its setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.forecast.curve import along, curve
from rwn_core.evaluation.two_way import two_way
from rwn_core.masking import at_levers, lever_values
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.features import prediction
from rwn_ui.state.results import (
    CurrentRelease,
    full_release,
    full_table,
    memo,
    release_key,
    table_key,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import Memo, user_results

SLOW = {"pmse"}  # on a large table they follow after the first picture
VALUES = 25  # along the expected curve
VALUES_OF_LARGE = 8
PENDING = rwn.NotApplicable("A moment: this takes longer on a large table.")

Answer = rwn.Reading | rwn.NotApplicable
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityReadings:
    """The release on screen and what all utility measures say about it."""

    comparison: rwn.Comparison
    readings: Mapping[str, Answer]
    relation: Answer  # of the two variables on screen
    now: Forecast | None  # of the setting
    expected: Answer  # the expected curve
    realized: float | None  # the curve's statistic in this draw
    pending: bool  # whether something of a large table is still missing: see `complete`


def read(session: Session, slot: DeltaGenerator | None = None) -> UtilityReadings:
    """Read every utility measure; what was read before is not read again."""
    current, held = full_release(session, slot), _stored()
    comparison = current.comparison
    key, pair, statistic = release_key(session), session.pair, session.statistic
    waits = full_table(session).slow
    readings = {
        **current.readings,
        **held.get_or_make(("readings", key), lambda: _read(current, slow=False)),
    }
    pending = waits and ("slow", key) not in held
    readings |= dict.fromkeys(SLOW, PENDING) if pending else _slow(session, current)
    unknown = _not_expected(session)
    asked = _now_key(session), _scan_key(session, session.curve_axis)
    missing = waits and not unknown and not all(each in held for each in asked)
    now = None if missing or unknown else _now(session)
    return UtilityReadings(
        comparison=comparison,
        readings=readings,
        relation=held.get_or_make((*pair, key), lambda: _or_reason(two_way, comparison, *pair)),
        now=now,
        expected=unknown or (PENDING if missing else _curve(session)),
        realized=held.get_or_make((statistic, key), lambda: _realized(statistic, comparison)),
        pending=pending or missing,
    )


def complete(session: Session) -> None:
    """Slow readings of a large table; cancelled by a newer choice of the user."""
    if not _not_expected(session):
        _now(session, _give_way)
        _scan(session, _give_way)
    _slow(session, full_release(session))


def _give_way(share: float) -> None:
    """Streamlit stops a script that is to run again where it looks at the state."""
    user_results()


def _stored() -> Memo:
    return memo("utility", 40)


def _read(current: CurrentRelease, *, slow: bool) -> dict[str, Answer]:
    shown = current.readings
    return {
        key: shown[key] if key in shown else measure.read(current.comparison, bare=True)
        for key, measure in rwn.MEASURES.items()
        if measure.side == "utility" and key != prediction.MEASURE and (key in SLOW) is slow
    }


def _slow(session: Session, current: CurrentRelease) -> dict[str, Answer]:
    return _stored().get_or_make(("slow", release_key(session)), lambda: _read(current, slow=True))


def _realized(statistic: rwn.Statistic, comparison: rwn.Comparison) -> float | None:
    with suppress(rwn.NotApplicable):
        return statistic.realized(comparison)
    return None


def _or_reason(work: Any, *arguments: Any, **named: Any) -> Answer:
    try:
        reading: rwn.Reading = work(*arguments, **named)
    except rwn.NotApplicable as reason:
        return rwn.NotApplicable(reason.reason)
    return reading


# ---------------------------------------------------------------- the expected curve


def _not_expected(session: Session) -> rwn.NotApplicable | None:
    """Why there is no curve: what to expect needs the stored neighbors of every record."""
    start, params = full_table(session).prepared, session.params
    if not params.has_forecast:
        return rwn.NotApplicable("This setting has no closed forms for what to expect.")
    if not start.masks_all_records:
        return rwn.NotApplicable(
            f"This needs every record, and these are {len(start.records):,} random ones "
            f"of {session.data.n:,}."
        )
    if start.with_levers(**lever_values(params)).is_quick:
        return None
    if params.strength == "width":
        return rwn.NotApplicable(
            "This needs the probabilities of all pairs of records; choose bandwidth = adaptive."
        )
    return rwn.NotApplicable(
        "This needs the neighbors that are stored, and they do not reach as far as this "
        "setting; take a smaller ε."
    )


def _values(session: Session, axis: str) -> list[float]:
    """Positions of the curve: the slider's range, as far as neighbors are stored."""
    table = full_table(session)
    ends, end = table.prepared.ranges[axis], table.quick_end(session.params, axis)
    weighed = axis in ("width", "balance")  # each position has weights of its own
    slow = session.data.n > LARGEST_DENSE or weighed
    count = VALUES_OF_LARGE if slow else VALUES
    values = np.linspace(ends.low, end, count)
    integer = next(lever.whole_number for lever in session.params.levers if lever.name == axis)
    return [float(value) for value in (np.unique(values.round()) if integer else values)]


def _now_key(session: Session) -> tuple[Any, ...]:
    return ("now", *table_key(session.data), session.params)


def _scan_key(session: Session, axis: str) -> tuple[Any, ...]:
    """Cache key of the curve: all but the parameter along it."""
    low = full_table(session).prepared.ranges[axis].low
    at_low = at_levers(session.params, {axis: low})
    return ("scan", axis, *table_key(session.data), at_low)


def _now(session: Session, progress: Progress | None = None) -> Forecast:
    """Expectation of the current setting."""

    def make() -> Forecast:
        start, params = full_table(session).prepared, [session.params]
        return forecast_scan(session.data, params, prepared=start, progress=progress)[0]

    return _stored().get_or_make(_now_key(session), make)


def _scan(session: Session, progress: Progress | None = None) -> list[Forecast]:
    """Expectation along the curve."""
    settings = along(session.params, session.curve_axis, _values(session, session.curve_axis))

    def make() -> list[Forecast]:
        start = full_table(session).prepared
        return forecast_scan(session.data, settings, prepared=start, progress=progress)

    return _stored().get_or_make(_scan_key(session, session.curve_axis), make)


def _curve(session: Session) -> Answer:
    """The curve of the other parameters, with the present setting on it."""
    axis, statistic = session.curve_axis, session.statistic
    scan = [*_scan(session), _now(session)]
    return _stored().get_or_make(
        ("curve", axis, statistic, *table_key(session.data), session.params),
        lambda: _or_reason(
            curve,
            session.data,
            session.params,
            _values(session, axis),
            scan,
            axis=axis,
            statistic=statistic,
        ),
    )
