"""Takes up the same table under another description, of a wide one with some of its variables."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_ui.state.change_table import answer, redescribe
from rwn_ui.state.session import Session


def describe_anew(session: Session, data: rwn.Microdata, *, by_grid: bool = False) -> None:
    """Change the description, and draw the page again; nothing where that is under way already."""
    coming = session.user.work.preparation
    before = session.data.schema
    same = coming is not None and coming.name == session.name
    if coming is not None and same and coming.data.schema.names == before.names:
        data = coming.data.with_schema(_merged(data.schema, before, coming.data.schema))
    if coming is not None and (coming.data.schema, coming.data.fingerprint) == (
        data.schema,
        data.fingerprint,
    ):
        return
    if not any(v.masked for v in data.schema.released):
        raise rwn.ParameterError("No variable is chosen for masking; choose at least one.")
    if same:
        answer(session, data)
    else:
        redescribe(session, data, by_grid=by_grid)
    if session.user.work.preparation is None:
        st.toast("Every page now uses this description.", icon=":material/check:")
    st.rerun()


def _merged(edited: rwn.Schema, before: rwn.Schema, later: rwn.Schema) -> rwn.Schema:
    """The later description with what was edited since: what was answered meanwhile stays."""
    variables = (
        one if one != old else new
        for one, old, new in zip(edited.variables, before.variables, later.variables, strict=True)
    )
    asked = (edited if edited.question != before.question else later).question
    use = (edited if edited.use != before.use else later).use
    rules = (edited if edited.edit_rules != before.edit_rules else later).edit_rules
    rows = (edited if edited.rows != before.rows else later).rows
    merged = replace(later, variables=tuple(variables), question=asked, edit_rules=rules, use=use)
    record = (edited if edited.record != before.record else later).record
    return replace(merged, rows=rows, record=record)


_FIRST = 50


def choose_variables(data: rwn.Microdata, key: str) -> rwn.Microdata | None:
    """The table with the chosen variables, once they are chosen."""
    variables = data.schema.variables
    names = [variable.name for variable in variables]
    labels = {v.name: f"{v.name} · {v.label}" for v in variables if v.label}
    if key not in st.session_state:
        left_out = any(not v.is_released for v in variables)
        released = [v.name for v in data.schema.released]
        st.session_state[key] = released if left_out else []
    picks = {"All with a label": [*labels], f"The first {_FIRST}": names[:_FIRST], "None": []}
    with st.container(border=True):
        st.markdown(f"#### {len(names)} variables: choose those of the release")
        st.caption("The others are left out of every release; the record of a release lists them.")
        for column, (words, picked) in zip(st.columns(3), picks.items(), strict=True):
            column.button(
                words,
                key=f"{key}.{words}",
                width="stretch",
                disabled=words != "None" and not picked,
                on_click=st.session_state.__setitem__,
                args=(key, picked),
            )
        chosen = st.multiselect(
            "Variables of the release",
            names,
            key=key,
            format_func=lambda each: labels.get(each, each),
            placeholder="Type a part of a name or a label",
        )
        words = f"Use {'this variable' if len(chosen) == 1 else f'these {len(chosen)} variables'}"
        if st.button(words, key=f"{key}.yes", type="primary", disabled=not chosen):
            return data.with_schema(data.schema.releasing(chosen))
    return None
