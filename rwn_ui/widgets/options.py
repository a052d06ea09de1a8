"""Options of a method from its record: choices, switches, numbers, names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.masking import Option, fixed_options, method_options
from rwn_core.masking.lever import neutral_levers
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import change_options
from rwn_ui.state.session import Session
from rwn_ui.widgets.folded import folded

# a soft kernel takes other sliders than the page has: for Python, the command line and scenarios
WITHOUT_SLIDERS = ("kernel", "width", "bandwidth", "bandwidth_k", "cap", "own", "balance")


def draw(session: Session) -> None:
    """The options of the method, folded; one that is refused says why and changes nothing."""
    method = rwn.METHODS[session.method]
    offered = tuple(each for each in method_options(method) if each.name not in WITHOUT_SLIDERS)
    if not offered:
        return
    values, refusal = _shown(session, offered)
    changed = len(session.options)
    title = f"More options ({changed} changed)" if changed else "More options"
    box = folded(title, _key(session, "options"), expanded=bool(refusal))
    if box is None:
        return
    with box:
        for option in offered:
            key = _key(session, option.name)
            # an earlier choice, a link or a scenario may have brought another value
            st.session_state[key] = _as_shown(option, values[option.name])
            names = [variable.name for variable in session.data.schema.released]
            field(option, names, key=key, on_change=_take, args=(session, option, session.method))
        if refusal:
            st.warning(escaped(refusal))


def _key(session: Session, what: str) -> str:
    return f"tune.{session.table_version}.option.{session.method}.{what}"


def _shown(session: Session, offered: tuple[Option, ...]) -> tuple[dict[str, Any], str]:
    """Values of the fields, and the reason if they were refused."""
    values = {option.name: option.default for option in offered} | dict(session.options)
    about, asked, refusal = st.session_state.get(_key(session, "asked"), (None, {}, ""))
    if about != session.options:  # something else was chosen since
        return values, ""
    return values | asked, refusal


def _as_shown(option: Option, value: Any) -> Any:
    if option.form == "names":
        return list(value)
    if option.form == "text":
        return json.dumps(dict(value)) if value and not isinstance(value, str) else value or ""
    return float(value) if option.form == "number" and value is not None else value


def _take(session: Session, option: Option, shown: str) -> None:
    """Take over what a field says together with the others, or keep why it cannot be."""
    if session.method != shown:
        return  # the field of another method has gone from the page
    method, asked = rwn.METHODS[session.method], _key(session, "asked")
    values, _ = _shown(session, method_options(method))
    values[option.name] = st.session_state[_key(session, option.name)]
    try:
        chosen = tuple(fixed_options(method(**values, **neutral_levers(method))).items())
        st.session_state.pop(asked, None)
        change_options(session, chosen)
    except rwn.RWNError as refusal:
        st.session_state[asked] = (session.options, values, str(refusal))


def field(option: Option, names: Sequence[str], **about: Any) -> Any:
    """Draw the field of an option; what it holds."""
    shown = {"label": option.title, "help": escaped(option.help), **about}
    return _DRAWN[option.form](option, names, shown)


def _choice(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.selectbox(options=option.choices, **about)


def _switch(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.toggle(**about)


def _integer(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.number_input(min_value=0, step=1, placeholder="none", **about)


def _number(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.number_input(min_value=0.0, step=0.05, format="%g", placeholder="none", **about)


def _names(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.multiselect(options=names, placeholder="as by default", **about)


def _text(option: Option, names: Sequence[str], about: Mapping[str, Any]) -> Any:
    return st.text_area(placeholder="none", height=80, **about)


_DRAWN: dict[str, Callable[[Option, Sequence[str], Mapping[str, Any]], Any]] = {
    "choice": _choice,
    "switch": _switch,
    "whole": _integer,
    "number": _number,
    "names": _names,
    "text": _text,
}
