"""What the Utility page computes, and what it finds already done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

import rwn_core as rwn
from rwn_core.comparison import Comparison
from rwn_core.ensemble import Ensemble
from rwn_core.expected_curve import expected_curve
from rwn_core.neighborhoods import LARGEST_DENSE
from rwn_core.reading import Reading
from rwn_core.standard_errors import Validity
from rwn_core.two_way import two_way
from rwn_ui.draws import PLACE
from rwn_ui.session import Memo, Session

HELD_BACK = {"prediction"}  # needs held-out records: the Tune page has it
RADII = 25
RADII_OF_LARGE = 8

Found = Reading | rwn.NotApplicable


@dataclass(slots=True, kw_only=True)
class Desk:
    """One user's work on this page, for one table; nothing is shared between users."""

    generation: int
    other: str = ""
    text: str = ""
    purpose: str = ""
    about: tuple[Any, ...] = ()  # the setting that the job belongs to
    ensembles: dict[tuple[Any, ...], Ensemble] = field(default_factory=dict)
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
    return (session.data.fingerprint, session.data.schema, session.params, session.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The release on screen and what all utility measures say about it."""

    comparison: Comparison
    readings: Mapping[str, Found]
    relation: Found
    expected: Found


def sight(session: Session) -> Sight:
    """Read every utility measure; what was read before is found again."""
    bench, look, mine = session.bench(), session.look(), desk(session)
    comparison = bench.comparison.with_masked(look.masked.masked, look.masked.law)

    def read() -> dict[str, Found]:
        return {
            key: look.readings[key] if key in look.readings else measure.read(comparison)
            for key, measure in rwn.MEASURES.items()
            if measure.side == "utility" and key not in HELD_BACK
        }

    here = place_of(session)
    pair = (session.variable, mine.other)
    return Sight(
        comparison=comparison,
        readings={**look.readings, **mine.memo.once(("readings", here), read)},
        relation=mine.memo.once((*pair, here), lambda: _or_reason(two_way, comparison, *pair)),
        expected=_expected(session, mine),
    )


def _or_reason(work: Any, *arguments: Any, **named: Any) -> Found:
    try:
        found: Reading = work(*arguments, **named)
    except rwn.NotApplicable as reason:
        return rwn.NotApplicable(reason.reason)
    return found


def _expected(session: Session, mine: Desk) -> Found:
    """The curve of this k and q, once, with the present radius on it."""
    bench, data, params = session.bench(), session.data, session.params
    own = (data.fingerprint, data.schema)
    radii = np.linspace(
        0.0, bench.reach.epsilon, RADII if data.n <= LARGEST_DENSE else RADII_OF_LARGE
    )
    curve = mine.memo.once(
        ("curve", *own, params.k, params.q),
        lambda: _or_reason(expected_curve, data, params, radii, table=bench.table),
    )
    now = mine.memo.once(
        ("now", *own, params),
        lambda: _or_reason(expected_curve, data, params, [], table=bench.table),
    )
    if not (isinstance(curve, Reading) and isinstance(now, Reading)):
        return curve
    lines = {name: curve.detail[name] for name in ("radii", "change", "changed")}
    return Reading(value=now.value, baseline=now.baseline, detail={**now.detail, **lines})
