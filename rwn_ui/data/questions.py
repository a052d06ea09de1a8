"""Open questions on the table: names, codes for missing values, key variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.open_questions import OpenQuestion, asks_population, open_questions
from rwn_core.data.role_guesses import RoleGuess, guessed_roles
from rwn_core.io.parse import without_missing_codes
from rwn_ui.data.describe import describe_anew
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session

_MOST = 8  # questions at once
_RECOGNIZED = (
    "Who could be recognized? Variables that others may know of a person",
    "They become keys: what an intruder finds people by. With none, risks are counted as if "
    "everybody knew everything.",
)
_SECRET = (
    "What is confidential? Variables that an intruder is after",
    "Attribute risks are judged on them; without any, a policy cannot judge its limit on them.",
)
_SAMPLED = (
    "Is it a sample? The weight of a record",
    "How many people a record stands for. Tables and risks of a population use it.",
)
_TOGETHER = (
    "Do people belong together? Their household or cluster",
    "It groups records and never reaches a release.",
)


def ask(session: Session) -> None:
    """Show each open question with a button that answers it and one that dismisses it."""
    key = f"data.{session.table_version}"
    left = st.session_state.setdefault(f"data.left.{session.data.fingerprint}", set())
    roles = _asks_for_roles(session) and "roles" not in left
    with_roles = ("household", "weight") if roles else ()
    open_ = [
        question
        for question in _found(session)
        if (question.variable, question.kind) not in left and question.kind not in with_roles
    ]
    people = asks_population(session.data.frame, session.data.schema)
    people = None if "population" in left else people
    if not open_ and not roles and people is None:
        return
    with st.container(border=True):
        st.markdown("#### Before you tune: what the table leaves open")
        if roles:
            _ask_for_roles(session, left, key)
        if people is not None:
            _ask_for_population(session, left, people, key)
        for question in open_[:_MOST]:
            _ask_one(session, left, question, key)
        if len(open_) > _MOST:
            st.caption(f"{len(open_) - _MOST} more questions follow.")


def _leave(place: Any, left: set[Any], what: Any, key: str) -> None:
    """Draw the button that leaves a question open."""
    place.button("Leave it", key=f"{key}.no", width="stretch", on_click=left.add, args=(what,))


def _ask_one(session: Session, left: set[Any], question: OpenQuestion, key: str) -> None:
    words, yes, no = st.columns([9, 4, 2], vertical_alignment="center")
    words.markdown(escaped(question.sentence))
    name = f"{key}.{question.variable}.{question.kind}"
    if yes.button(question.answer, key=f"{name}.yes", width="stretch"):
        settle(session, question)
    if question.stops:
        if no.button("Keep it", key=f"{name}.no", width="stretch"):
            change(session, {question.variable: question.declined})
    else:
        _leave(no, left, (question.variable, question.kind), name)


def _ask_for_population(session: Session, left: set[Any], sentence: str, key: str) -> None:
    words, field, yes, no = st.columns([4, 2, 2, 1], vertical_alignment="center")
    words.markdown(escaped(sentence))
    number = field.number_input(
        "People in the population",
        session.data.n,
        10**10,
        None,
        key=f"{key}.population",
        label_visibility="collapsed",
        placeholder="People",
    )
    if yes.button("Use this number", key=f"{key}.population.yes", width="stretch") and number:
        schema = replace(session.data.schema, population=int(number))
        describe_anew(session, session.data.with_schema(schema))
    _leave(no, left, "population", f"{key}.population")


def _found(session: Session) -> list[OpenQuestion]:
    data = session.data
    return data.cached(
        ("open questions", data.schema), lambda: open_questions(data.frame, data.schema)
    )


def asks(session: Session, notice: str) -> bool:
    """True if a question repeats a notice."""
    asked = {question.variable for question in _found(session)}
    remedy = notice.endswith(
        ("set its role to identifier.", "missing_codes in a schema.", "give it that role.")
    )
    return remedy and any(notice.startswith(f"{name} ") for name in asked)


def settle(session: Session, question: OpenQuestion) -> None:
    """Write an answer to the schema, and take out what it says is missing."""
    change(session, {question.variable: question.changes})


def change(session: Session, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Describe some variables in another way, and draw the page anew."""
    schema = session.data.schema
    for name, fields in changes.items():
        schema = schema.replace_variable(name, **fields)
    data = session.data.with_schema(schema)
    describe_anew(session, without_missing_codes(data, schema))


def _asks_for_roles(session: Session) -> bool:
    roles = {variable.role for variable in session.data.schema.variables}
    return not {rwn.Role.KEY, rwn.Role.CONFIDENTIAL} <= roles


def _ask_for_roles(session: Session, left: set[Any], key: str) -> None:
    """Ask for keys, confidential variables, sampling weight and household at once."""
    data = session.data
    guesses: list[RoleGuess] = data.cached(
        ("guessed roles", data.schema), lambda: guessed_roles(data.frame, data.schema)
    )
    names = [variable.name for variable in data.schema.released]
    given = {v.name: v.role for v in data.schema.released if v.role is not rwn.Role.OTHER}
    known = given | {guess.variable: guess.role for guess in guesses}
    first, second = st.columns(2)
    chosen = {
        role: column.multiselect(
            question,
            names,
            [name for name in names if known.get(name) is role],
            key=f"{key}.roles.{role}",
            help=why,
        )
        for column, role, question, why in (
            (first, rwn.Role.KEY, *_RECOGNIZED),
            (second, rwn.Role.CONFIDENTIAL, *_SECRET),
        )
    }
    one, two, yes, no = st.columns([5, 5, 4, 2], vertical_alignment="bottom")
    for column, role, question, why in (
        (one, rwn.Role.SAMPLING_WEIGHT, *_SAMPLED),
        (two, rwn.Role.HOUSEHOLD, *_TOGETHER),
    ):
        guessed = next((name for name in names if known.get(name) is role), None)
        picked = column.selectbox(
            question,
            names,
            None if guessed is None else names.index(guessed),
            key=f"{key}.roles.{role}",
            placeholder="No",
            help=why,
        )
        chosen[role] = [] if picked is None else [picked]
    if guesses:
        words = "; ".join(f"{guess.variable} ({guess.reason})" for guess in guesses)
        st.caption(escaped(f"Guessed, to be corrected: {words}."))
    roles = {name: role for role, some in chosen.items() for name in some}
    twice = [name for name in roles if sum(name in some for some in chosen.values()) > 1]
    if twice:
        st.warning(f"{twice[0]} has two answers; give it one.")
    if yes.button(
        "Use these answers",
        key=f"{key}.roles.yes",
        width="stretch",
        type="primary",
        disabled=bool(twice),
    ):
        left.add("roles")
        others = {name: rwn.Role.OTHER for name, role in given.items() if role in chosen}
        change(session, {name: {"role": role} for name, role in (others | roles).items()})
    _leave(no, left, "roles", f"{key}.roles")


def order_levels(session: Session) -> None:
    """Let the levels of the ordered variables be put in order, the lowest first."""
    ordered = [v for v in session.data.schema.released if v.kind is rwn.Kind.ORDERED]
    if not ordered:
        return
    with st.expander("Order of the levels of ordered variables"):
        for variable in ordered:
            levels = list(variable.levels or ())
            text = st.text_area(
                f"{escaped(variable.name)}: one level a line, the lowest first",
                "\n".join(levels),
                key=f"data.{session.table_version}.levels.{variable.name}",
            )
            wanted = [line.strip() for line in text.splitlines() if line.strip()]
            if wanted != levels:
                missing = set(levels).difference(wanted)
                if missing:
                    raise rwn.ParameterError(
                        f"The order of {variable.name} lacks {len(missing)} of its levels; name "
                        "each level once."
                    )
                schema = session.data.schema.replace_variable(variable.name, levels=tuple(wanted))
                describe_anew(session, session.data.with_schema(schema))
