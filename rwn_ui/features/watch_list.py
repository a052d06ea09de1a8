"""The watch list: pin records, and see in how many releases they are named; internal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.data.units import people_in
from rwn_core.evaluation.disclosure import OUT_OF, Disclosure, follow, odds_words
from rwn_ui.state.results import memo
from rwn_ui.state.session import Session

KEPT = 8  # answers of one user
LONGEST = 20  # records that are followed
TITLE = "Watch list (internal)"
CAPTION = (
    f"Of {OUT_OF} fresh releases of this setting: in how many an intruder who knows the original "
    "table and the setting, and reads each row by itself, names this person by one of the own "
    "rows. Not judged: wrong names, several releases, facts outside the table."
)


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
        followed = _followed(session, session.data, session.setting, session.seed)
    new = [words(record) for record in session.watched if record not in followed]
    later = f" Find the risk anew to follow: {', '.join(new)}." if new else ""
    return {
        "title": TITLE,
        "columns": ["record", "odds"],
        "rows": [
            [words(record), odds_words(chance, people_in(session.data))]
            for record, chance in followed.items()
        ],
        "caption": CAPTION + later,
    }


def words(record: int) -> str:
    """A watched record as a person reads it."""
    return f"record {record + 1}"


def minutes(session: Session, chosen: rwn.Scenario | None, lines: tuple[str, ...]) -> Iterator[str]:
    """The watch list of the minutes: a line that names a watched record gets the choice's odds."""
    found = {} if chosen is None else _odds(session, chosen)
    of = people_in(session.data)
    lines_of = {words(r): f": {odds_words(chance, of)}" for r, chance in found.items()}
    yield from (line + lines_of.get(line, "") for line in lines)


def side_by_side(session: Session, scenarios: list[rwn.Scenario]) -> dict[str, Any] | None:
    """Result of every record in a release of each scenario of this table."""
    if not session.watched:
        return None
    columns = [_odds(session, scenario) for scenario in scenarios]
    of = people_in(session.data)
    return {
        "title": TITLE,
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": [
            [
                words(record),
                *(odds_words(each[record], of) if each else "–" for each in columns),
            ]
            for record in session.watched
        ],
        "caption": CAPTION,
    }


def _odds(session: Session, scenario: rwn.Scenario) -> dict[int, float | None]:
    """The odds under one scenario; nothing where its releases cannot be drawn here."""
    setting = scenario.setting
    data = session.data
    elsewhere = scenario.table and scenario.table != data.fingerprint
    if setting is None or elsewhere or data.n > LIVE_RECORDS:
        return {}
    try:
        return _followed(session, setting.applied_to(data), setting, scenario.seed)
    except rwn.RWNError:
        return {}


def _followed(
    session: Session, table: rwn.Microdata, setting: rwn.Setting, seed: int
) -> dict[int, float | None]:
    """The odds of every record under one setting, found once."""
    precision = dict(setting.precision)
    key = ("followed", table.fingerprint, setting.key, seed, session.watched)
    return memo(session, "watch list", KEPT).get_or_make(
        key, lambda: follow(table, setting.params, session.watched, seed=seed, precision=precision)
    )
