"""The watch list: pin records and questions, and see what becomes of them; internal."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.evaluation.disclosure import Disclosure, with_keys
from rwn_core.measures.attacks.predicate import (
    Condition,
    Predicate,
    Sign,
    is_number,
    single_record_predicates,
)
from rwn_core.measures.attacks.watch_list import Watched, WatchList
from rwn_ui.state.results import ALL_RECORDS, current_release, memo
from rwn_ui.state.session import Session

KEPT = 8  # answers of one user
OWN = 3  # conditions in a question of one's own
CAPTION = (
    "Of a record: that its own row is known for its own. Of a question: that exactly one released "
    "row answers it."
)


def form(session: Session, keys: tuple[str, ...]) -> None:
    """Pin records and questions, to follow them over settings."""
    with st.expander("Watch list (internal)"):
        record = st.number_input("Record", 1, session.data.n, 1, key=session.key("watch.record"))
        if st.button("Watch this record", key=session.key("watch.add"), width="stretch"):
            session.watched = session.watched.with_record(int(record) - 1, session.data.n)
        _unique(session, keys)
        _own(session)
        if st.button("Clear the list", key=session.key("watch.clear"), width="stretch"):
            session.watched = WatchList()


def _unique(session: Session, keys: tuple[str, ...]) -> None:
    """Questions about the keys that one person answers, found by themselves."""
    if session.data.n > ALL_RECORDS:
        st.caption(
            f"In a table of more than {ALL_RECORDS:,} records, questions that one person "
            "answers are not sought; ask one of your own."
        )
        return
    unique = memo("watch list", KEPT).get_or_make(
        ("lone members", session.data.fingerprint, session.data.schema, keys),
        lambda: single_record_predicates(with_keys(session.data, keys), keys),
    )
    words = {predicate.words: predicate for predicate, _ in unique}
    if words:
        question = st.selectbox(
            "Question that one person answers", list(words), key=session.key("watch.question")
        )
        if st.button("Watch this question", key=session.key("watch.ask"), width="stretch"):
            session.watched = session.watched.with_predicate(words[question])


def _own(session: Session) -> None:
    """A question of one's own: up to three conditions that all must hold."""
    names = st.multiselect(
        "A question of your own about",
        [variable.name for variable in session.data.schema.released],
        max_selections=OWN,
        key=session.key("watch.own"),
    )
    conditions = tuple(_condition(session, name) for name in names)
    key = session.key("watch.own.add")
    if conditions and st.button("Watch my question", key=key, width="stretch"):
        session.watched = session.watched.with_predicate(Predicate(conditions=conditions))


def _condition(session: Session, name: str) -> Condition:
    data, key = session.data, session.key(f"watch.own.{name}")
    if not is_number(data, name):
        level = st.selectbox(f"{name} is", data.codes(name)[1], key=key)
        return Condition(name=name, sign="is", value=level)
    sign, value = st.columns(2)
    chosen = sign.selectbox(name, ["at least", "at most"], key=f"{key}.sign")
    limit = value.number_input("limit", value=0.0, key=key, label_visibility="hidden")
    return Condition(name=name, sign=cast(Sign, chosen), value=float(limit))


def table(session: Session, disclosure: Disclosure, *, live: bool) -> dict[str, Any]:
    """Result of every entry: at the current setting, or in the job's release."""
    if live:
        drawn = current_release(session).masked
        followed = session.watched.follow(session.data, drawn.masked, drawn.law)
    else:
        followed = disclosure.followed
    rows = [[entry.words, _chance(entry), entry.matches] for entry in followed]
    known = {entry.words for entry in followed}
    new = [each for each in words(session) if each not in known]
    later = f" Find the risk anew to follow: {', '.join(new)}." if new else ""
    return {
        "title": "Watch list (internal)",
        "columns": ["record or question", "probability", "matches now"],
        "rows": rows,
        "caption": CAPTION + later,
    }


def words(session: Session) -> list[str]:
    """The entries as a person reads them."""
    return [entry.words for entry in session.watched.named()]


def scenario_note(session: Session) -> None:
    """Say what of the list goes into a scenario's file."""
    pinned = session.watched
    if pinned.predicates:
        count = len(pinned.predicates)
        questions = "watched question" if count == 1 else f"{count} watched questions"
        st.caption(
            f"The file will hold the {questions}: names of variables, categories and limits. "
            "Watched records stay here."
        )


def take(session: Session, scenario: rwn.Scenario) -> None:
    """Watch a scenario's questions as well, those that can be asked of this table."""
    unasked = 0
    for predicate in scenario.watch:
        if predicate.suits(session.data):
            try:
                session.watched = session.watched.with_predicate(predicate)
            except rwn.ParameterError as full:
                st.warning(str(full))
                return
        else:
            unasked += 1
    if unasked:
        st.warning(
            f"Of the scenario's watched questions {unasked} cannot be asked of this table, which "
            "has other variables."
        )


def _chance(entry: Watched) -> str:
    return "–" if entry.chance is None else f"{entry.chance:.3f}"


def side_by_side(session: Session, scenarios: list[rwn.Scenario]) -> dict[str, Any] | None:
    """Result of every entry in a release of each scenario of this table."""
    if session.watched.empty:
        return None
    columns = [_followed(session, scenario) for scenario in scenarios]
    return {
        "title": "Watch list (internal)",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": [list(row) for row in zip(words(session), *columns, strict=True)],
        "caption": CAPTION,
    }


def _followed(session: Session, scenario: rwn.Scenario) -> list[str]:
    """The chances under one scenario; – where its release cannot be drawn here."""
    nothing = ["–"] * len(words(session))
    setting, data = scenario.setting, session.data
    elsewhere = scenario.table and scenario.table != data.fingerprint
    if setting is None or elsewhere or data.n > LIVE_RECORDS:
        return nothing

    def follow() -> list[str]:
        try:
            table = setting.applied_to(data)
            release = rwn.mask(
                table, setting.params, precision=dict(setting.precision), seed=scenario.seed
            )
        except rwn.RWNError:
            return nothing
        return [_chance(e) for e in session.watched.follow(table, release.masked, release.law)]

    key = ("followed", data.fingerprint, setting.key, scenario.seed, session.watched)
    return memo("watch list", KEPT).get_or_make(key, follow)
