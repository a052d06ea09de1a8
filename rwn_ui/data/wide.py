"""Chooses the variables of a wide table that a release is to hold; the others are left out."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn

_FIRST = 50


def choose(data: rwn.Microdata, key: str) -> rwn.Microdata | None:
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
