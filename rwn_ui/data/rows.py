"""Asks what the rows are, where they seem to belong together, and takes what a steward states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.belonging import Finding
from rwn_core.data.belonging.gate import OTHERS, open_findings
from rwn_core.data.noun_of_table import guessed_noun, noun_of
from rwn_core.data.record_noun import RecordNoun, spoken_of
from rwn_core.data.rows import Belong
from rwn_ui.data.describe import describe_anew
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session

LEFT = "belonging"  # among the questions that were left open
_WORDS = {
    Belong.PERSON: "Several rows of one person",
    Belong.HOUSEHOLD: "Several rows of one household",
    Belong.CLUSTER: "Clusters, such as classes or villages",
    Belong.SERIES: "A series over time",
    Belong.SEPARATE: "Each row is a person of its own, independent of the others",
}
_ROLES = {Belong.PERSON: rwn.Role.PERSON, Belong.HOUSEHOLD: rwn.Role.HOUSEHOLD}


def ask_noun(data: rwn.Microdata, key: str) -> RecordNoun:
    """Ask what a record is; pages, notices and reports speak of it in this noun."""
    nouns = list(RecordNoun)
    known = data.schema.record or guessed_noun(data.names)
    chosen: RecordNoun = st.radio(
        "What is a record?",
        nouns,
        nouns.index(known),
        format_func=lambda noun: f"A {noun}",
        horizontal=True,
        key=f"{key}.record",
        help="Every page, notice and report speaks of people, households, firms, schools or "
        "visits then.",
    )
    return chosen


def open_finding(
    data: rwn.Microdata, schema: rwn.Schema, left: Collection[Any] = ()
) -> Finding | None:
    """Return what a schema leaves open of a table's rows; None where nothing, or if left open."""
    if LEFT in left:
        return None
    described = data if schema == data.schema else data.with_schema(schema)
    found = data.cached(("open rows", schema), lambda: open_findings(described))
    return found[0] if found else None


def ask_rows(
    finding: Finding | None, names: Sequence[str], noun: RecordNoun, key: str
) -> rwn.Rows | None:
    """Ask what was found; nothing is chosen at first, and None is no answer yet."""
    if finding is None:
        return None
    leaves = f" {finding.by[0]} says nothing else, and is left out of every release then."
    said = f"{finding.sentence} Which column says whose they are?"
    st.markdown(escaped(said + (leaves if finding.only_numbers else "")))
    one, two = st.columns([9, 6])
    kinds = [*OTHERS[finding.of], Belong.SEPARATE]
    if not finding.by:
        kinds = list(Belong)
    chosen = one.radio(
        "What are the rows?", kinds, None, format_func=_words_in(noun), key=f"{key}.of"
    )
    by = two.multiselect(
        "Columns that are equal in rows that belong together, or the time of a series",
        names,
        [name for name in finding.by if name in names],
        key=f"{key}.by",
    )
    if chosen is None:
        return None
    return rwn.Rows(of=chosen, by=() if chosen is Belong.SEPARATE else tuple(by))


def completed(
    finding: Finding | None, rows: rwn.Rows | None, answered: Callable[[], rwn.Microdata | None]
) -> rwn.Microdata | None:
    """Return the table under all answers of a form; nothing where one is missing."""
    if finding is not None and rows is None:
        st.warning("It is not said yet what the rows are; choose one answer.")
        return None
    data = answered()
    return None if data is None else stated(data, finding, rows)


def stated(data: rwn.Microdata, finding: Finding | None, rows: rwn.Rows | None) -> rwn.Microdata:
    """Return the table with the answer; a column that only numbers people leaves its release."""
    if rows is None:
        return data
    schema = data.schema.with_rows(rows)
    role = _ROLES.get(rows.of)
    numbers = finding is not None and finding.only_numbers and rows.by == finding.by
    if numbers and role is not None:
        schema = schema.replace_variable(rows.by[0], role=role)
    return data.with_schema(schema)


def statement(session: Session) -> None:
    """Show what is stated of the rows, and let it be stated anew."""
    data = session.data
    finding = open_finding(data, data.schema)
    known = data.schema.rows
    with st.expander("What the rows are", expanded=finding is not None):
        if finding is not None:
            st.warning(escaped(finding.sentence), icon=":material/help:")
        key = session.key(f"data.rows.{hash((known and known.text, data.schema.record))}")
        with st.form(key, enter_to_submit=False):
            noun = ask_noun(data, key)
            kinds = list(_WORDS)
            chosen = st.radio(
                "What are the rows?",
                kinds,
                None if known is None else kinds.index(known.of),
                format_func=_words_in(noun_of(data.schema)),
                key=f"{key}.of",
            )
            proposed = () if finding is None else finding.by
            by = st.multiselect(
                "Columns that are equal in rows that belong together, or the time of a series",
                data.names,
                list(proposed if known is None else known.by),
                key=f"{key}.by",
            )
            sent = st.form_submit_button("State this")
        if sent:
            names = () if chosen in (None, Belong.SEPARATE) else tuple(by)
            rows = None if chosen is None else rwn.Rows(of=chosen, by=names)
            named = data.with_schema(replace(data.schema, record=noun))
            describe_anew(session, stated(named, finding, rows))


def _words_in(noun: RecordNoun) -> Callable[[Belong], str]:
    """Return the words of what rows are, in the noun of the records."""
    return lambda kind: spoken_of(_WORDS[kind], noun)
