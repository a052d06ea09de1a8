"""Open questions on the table: names, codes for missing values, key variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.open_questions import OpenQuestion, open_questions
from rwn_core.io.missing_codes import without_missing_codes
from rwn_ui.data.describe import describe_anew
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session

_MOST = 8  # questions at once


def ask(session: Session) -> None:
    """Show each open question with a button that answers it and one that dismisses it."""
    key = f"data.{session.table_version}"
    left = st.session_state.setdefault(f"data.left.{session.data.fingerprint}", set())
    open_ = [
        question for question in _found(session) if (question.variable, question.kind) not in left
    ]
    keys = _no_keys(session) and "keys" not in left
    if not open_ and not keys:
        return
    with st.container(border=True):
        st.markdown("#### Before you tune: what the table leaves open")
        if keys:
            _ask_for_keys(session, left, key)
        for question in open_[:_MOST]:
            words, yes, no = st.columns([6, 2, 1], vertical_alignment="center")
            words.markdown(escaped(question.sentence))
            name = f"{key}.{question.variable}.{question.kind}"
            if yes.button(question.answer, key=f"{name}.yes", width="stretch"):
                settle(session, question)
            if question.stops:
                if no.button("Keep it", key=f"{name}.no", width="stretch"):
                    change(session, {question.variable: question.declined})
                continue
            no.button(
                "Leave it",
                key=f"{name}.no",
                width="stretch",
                on_click=left.add,
                args=((question.variable, question.kind),),
            )
        if len(open_) > _MOST:
            st.caption(f"{len(open_) - _MOST} more questions follow.")


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


def _no_keys(session: Session) -> bool:
    roles = {variable.role for variable in session.data.schema.variables}
    return rwn.Role.KEY not in roles


def _ask_for_keys(session: Session, left: set[Any], key: str) -> None:
    """Which variables an intruder may know; without any, all of them count as known."""
    names = [variable.name for variable in session.data.schema.released]
    words, yes, no = st.columns([6, 2, 1], vertical_alignment="bottom")
    chosen: Sequence[str] = words.multiselect(
        "Which variables may somebody outside know of a person, such as age, sex and place?",
        names,
        key=f"{key}.keys",
        help="They become keys: what an intruder finds people by. With none, risks are counted "
        "as if everybody knew everything.",
    )
    if yes.button("These are keys", key=f"{key}.keys.yes", width="stretch", disabled=not chosen):
        change(session, {name: {"role": rwn.Role.KEY} for name in chosen})
    no.button("Leave it", key=f"{key}.keys.no", width="stretch", on_click=left.add, args=("keys",))


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
                schema = session.data.schema
                changed = tuple(
                    replace(v, levels=tuple(wanted)) if v.name == variable.name else v
                    for v in schema.variables
                )
                describe_anew(session, session.data.with_schema(replace(schema, variables=changed)))
