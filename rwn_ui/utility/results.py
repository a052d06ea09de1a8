"""What the Utility page computes, and what it finds already done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.analysis_plan import DayPass, Standing
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.forecast.curve import Axis, along, curve
from rwn_core.evaluation.forecast.statistic import CHANGE, Moment
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.evaluation.standard_errors import Validity
from rwn_core.evaluation.two_way import two_way
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.features.repeated_draws_results import PLACE
from rwn_ui.state.memo import Memo
from rwn_ui.state.session import Session

HELD_BACK = {"prediction"}  # needs held-out records: the Tune page has it
SLOW = {"pmse"}  # on a large table they follow after the first picture
VALUES = 25  # along the expected curve
VALUES_OF_LARGE = 8
PENDING = rwn.NotApplicable("A moment: this takes longer on a large table.")

Found = Reading | rwn.NotApplicable
Progress = Callable[[float], None]


@dataclass(slots=True, kw_only=True)
class Desk:
    """One user's work on this page, for one table; nothing is shared between users."""

    generation: int
    other: str = ""
    moment: Moment = CHANGE
    axis: Axis = "epsilon"
    curves: dict[str, Any] = field(default_factory=dict)  # the last picture of each kind
    text: str = ""  # of the day pass, as it is being written
    registered: DayPass | None = None  # what that text says
    purpose: str = ""
    about: tuple[Any, ...] = ()  # the setting that the job belongs to
    ensembles: dict[tuple[Any, ...], Ensemble] = field(default_factory=dict)
    standings: dict[tuple[Any, ...], tuple[Standing, ...]] = field(default_factory=dict)
    validities: dict[tuple[Any, ...], Validity] = field(default_factory=dict)
    memo: Memo = field(default_factory=lambda: Memo(40))


def desk(session: Session) -> Desk:
    """This user's desk; another table clears it."""
    known: Desk | None = st.session_state.get(PLACE)
    if known is None or known.generation != session.generation:
        known = st.session_state[PLACE] = Desk(generation=session.generation)
    names = [variable.name for variable in session.data.schema.released]
    if known.other not in names or known.other == session.variable:
        question = session.data.schema.question
        choices = [*(question.predictors if question else ()), *names]
        known.other = next((name for name in choices if name != session.variable), names[0])
    return known


def place_of(session: Session) -> tuple[Any, ...]:
    """What the release on screen depends on."""
    return (session.data.fingerprint, session.data.schema, session.masking, session.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The release on screen and what all utility measures say about it.

    Attributes
    ----------
    comparison : Comparison
    readings : mapping of str to Reading or NotApplicable
    relation : Reading or NotApplicable
        Of the two variables on screen.
    now : Forecast, optional
        Of the setting.
    expected : Reading or NotApplicable
        The expected curve.
    realized : float, optional
        The curve's moment in this draw.
    pending : bool
        Whether something of a large table is still to come: see `complete`.
    """

    comparison: Comparison
    readings: Mapping[str, Found]
    relation: Found
    now: Forecast | None
    expected: Found
    realized: float | None
    pending: bool


def sight(session: Session) -> Sight:
    """Read every utility measure; what was read before is found again."""
    look, mine = session.look(), desk(session)
    comparison = look.comparison
    here, pair = place_of(session), (session.variable, mine.other)
    waits = session.bench().slow
    readings = {
        **look.readings,
        **mine.memo.once(("readings", here), lambda: _read(session, comparison, slow=False)),
    }
    pending = waits and ("slow", here) not in mine.memo
    readings |= dict.fromkeys(SLOW, PENDING) if pending else _slow(session, mine, comparison)
    unknown = _not_expected(session)
    missing = waits and not unknown and not _forecast_already(session, mine)
    now = None if missing or unknown else _now(session, mine)
    return Sight(
        comparison=comparison,
        readings=readings,
        relation=mine.memo.once((*pair, here), lambda: _or_reason(two_way, comparison, *pair)),
        now=now,
        expected=unknown or (PENDING if missing else _curve(session, mine)),
        realized=mine.memo.once((mine.moment, here), lambda: _realized(mine.moment, comparison)),
        pending=pending or missing,
    )


def complete(session: Session) -> None:
    """What a large table did not show at once; a newer choice of the user ends it midway."""
    mine, comparison = desk(session), session.look().comparison
    if not _not_expected(session):
        _now(session, mine, _give_way)
        _scan(session, mine, _give_way)
    _slow(session, mine, comparison)


def _give_way(share: float) -> None:
    """Streamlit stops a script that is to run again where it looks at the state."""
    st.session_state.get(PLACE)


def _read(session: Session, comparison: Comparison, *, slow: bool) -> dict[str, Found]:
    shown = session.look().readings
    return {
        key: shown[key] if key in shown else measure.read(comparison)
        for key, measure in rwn.MEASURES.items()
        if measure.side == "utility" and key not in HELD_BACK and (key in SLOW) is slow
    }


def _slow(session: Session, mine: Desk, comparison: Comparison) -> dict[str, Found]:
    key = ("slow", place_of(session))
    return mine.memo.once(key, lambda: _read(session, comparison, slow=True))


def _realized(moment: Moment, comparison: Comparison) -> float | None:
    try:
        return moment.realized(comparison)
    except rwn.NotApplicable:
        return None


def _or_reason(work: Any, *arguments: Any, **named: Any) -> Found:
    try:
        found: Reading = work(*arguments, **named)
    except rwn.NotApplicable as reason:
        return rwn.NotApplicable(reason.reason)
    return found


# ---------------------------------------------------------------- the expected curve


def _not_expected(session: Session) -> rwn.NotApplicable | None:
    """Why there is no curve: what to expect needs the stored neighbors of every record."""
    bench, params = session.bench(), session.params
    if not bench.preview.whole:
        return rwn.NotApplicable(
            f"This needs every record, and these are {len(bench.preview.records):,} random ones "
            f"of {session.data.n:,}."
        )
    if not bench.preview.stores(k=params.k, epsilon=params.epsilon):
        return rwn.NotApplicable(
            "This needs the neighbors that are stored, and they do not reach as far as this "
            "setting; take a smaller ε."
        )
    return None


def _values(session: Session, axis: Axis) -> list[float]:
    """Where the curve is computed: over the slider's range, as far as neighbors are stored."""
    slider_range = session.bench().slider_range
    count = VALUES if session.data.n <= LARGEST_DENSE else VALUES_OF_LARGE
    if axis == "k":
        return [float(k) for k in np.unique(np.linspace(1, slider_range.k, count).round())]
    table = session.bench().table
    end = (
        slider_range.epsilon
        if table is None
        else min(slider_range.epsilon, float(np.min(table.epsilon)))
    )
    return [float(value) for value in np.linspace(0.0, {"q": 1.0}.get(axis, end), count)]


def _own(session: Session, *more: Any) -> tuple[Any, ...]:
    return (session.data.fingerprint, session.data.schema, *more)


def _now_key(session: Session) -> tuple[Any, ...]:
    return ("now", *_own(session, session.params))


def _scan_key(session: Session, axis: Axis) -> tuple[Any, ...]:
    """What the curve depends on: all but the parameter along it."""
    rest = replace(session.params, **{axis: 1 if axis == "k" else 0.0})
    return ("scan", axis, *_own(session, rest))


def _forecast_already(session: Session, mine: Desk) -> bool:
    keys = (_now_key(session), _scan_key(session, mine.axis))
    return all(key in mine.memo for key in keys)


def _now(session: Session, mine: Desk, progress: Progress | None = None) -> Forecast:
    """What to expect of the present setting."""

    def make() -> Forecast:
        table = session.bench().table
        return forecast_scan(session.data, [session.params], table=table, progress=progress)[0]

    return mine.memo.once(_now_key(session), make)


def _scan(session: Session, mine: Desk, progress: Progress | None = None) -> list[Forecast]:
    """What to expect along the curve."""
    settings = along(session.params, mine.axis, _values(session, mine.axis))

    def make() -> list[Forecast]:
        table = session.bench().table
        return forecast_scan(session.data, settings, table=table, progress=progress)

    return mine.memo.once(_scan_key(session, mine.axis), make)


def _curve(session: Session, mine: Desk) -> Found:
    """The curve of the other parameters, with the present setting on it."""
    axis, moment = mine.axis, mine.moment
    scan = [*_scan(session, mine), _now(session, mine)]
    return mine.memo.once(
        ("curve", axis, moment, *_own(session, session.params)),
        lambda: _or_reason(
            curve,
            session.data,
            session.params,
            _values(session, axis),
            scan,
            axis=axis,
            moment=moment,
        ),
    )
