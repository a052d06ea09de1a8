"""The watch list: pin records, and see whether they are recognized; internal."""

from __future__ import annotations

from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.evaluation.disclosure import Disclosure, follow
from rwn_ui.state.results import current_release, memo
from rwn_ui.state.session import Session

KEPT = 8  # answers of one user
LONGEST = 20  # records that are followed
TITLE = "Watch list (internal)"
CAPTION = "The probability that a record's own row is known for its own."


def form(session: Session) -> None:
    """Pin records, to follow them over settings."""
    with st.expander(TITLE):
        chosen = st.number_input("Record", 1, session.data.n, 1, key=session.key("watch.record"))
        record = int(chosen) - 1
        pressed = st.button("Watch this record", key=session.key("watch.add"), width="stretch")
        if pressed and record not in session.watched:
            if len(session.watched) >= LONGEST:
                raise rwn.ParameterError(
                    f"The watch list holds at most {LONGEST} records; clear it first."
                )
            session.watched = (*session.watched, record)
        if st.button("Clear the list", key=session.key("watch.clear"), width="stretch"):
            session.watched = ()


def table(session: Session, disclosure: Disclosure, *, live: bool) -> dict[str, Any]:
    """Result of every record: at the current setting, or in the job's release."""
    followed = disclosure.followed
    if live:
        drawn = current_release(session).masked
        followed = follow(session.watched, drawn.masked, drawn.law)
    new = [words(record) for record in session.watched if record not in followed]
    later = f" Find the risk anew to follow: {', '.join(new)}." if new else ""
    return {
        "title": TITLE,
        "columns": ["record", "probability"],
        "rows": [[words(record), _chance(chance)] for record, chance in followed.items()],
        "caption": CAPTION + later,
    }


def words(record: int) -> str:
    """A watched record as a person reads it."""
    return f"record {record + 1}"


def _chance(chance: float | None) -> str:
    return "–" if chance is None else f"{chance:.3f}"


def side_by_side(session: Session, scenarios: list[rwn.Scenario]) -> dict[str, Any] | None:
    """Result of every record in a release of each scenario of this table."""
    if not session.watched:
        return None
    columns = [_followed(session, scenario) for scenario in scenarios]
    return {
        "title": TITLE,
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": [list(row) for row in zip(map(words, session.watched), *columns, strict=True)],
        "caption": CAPTION,
    }


def _followed(session: Session, scenario: rwn.Scenario) -> list[str]:
    """The chances under one scenario; – where its release cannot be drawn here."""
    nothing = ["–"] * len(session.watched)
    setting, data = scenario.setting, session.data
    elsewhere = scenario.table and scenario.table != data.fingerprint
    if setting is None or elsewhere or data.n > LIVE_RECORDS:
        return nothing

    def found() -> list[str]:
        try:
            table = setting.applied_to(data)
            release = rwn.mask(
                table, setting.params, precision=dict(setting.precision), seed=scenario.seed
            )
        except rwn.RWNError:
            return nothing
        return [*map(_chance, follow(session.watched, release.masked, release.law).values())]

    key = ("followed", data.fingerprint, setting.key, scenario.seed, session.watched)
    return memo("watch list", KEPT).get_or_make(key, found)
