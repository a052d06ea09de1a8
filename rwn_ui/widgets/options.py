"""Options of a method from its record: choices, switches, numbers, names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.variable import NUMBERS
from rwn_core.masking import Option, method_options
from rwn_core.masking.lever import neutral_levers
from rwn_core.neighbors.candidates import usual_sizes
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.session import KEPT, Session, first_setting
from rwn_ui.widgets.folded import folded

_EVEN = "Equally likely donors, and the standard sliders."
_OFTEN = (
    "Nearer records give more often, and each as often as any other. Extremes then survive more "
    "often."
)
_PRESETS: dict[str, tuple[str, dict[str, float], str]] = {
    "As published": (rwn.RWN.method, {}, _EVEN),
    "Keep totals and spreads": (rwn.SoftRWN.method, {"balance": 1.0}, _OFTEN),
}
"""Methods, levers other than those of the standard preset, and what they do."""
_LEFT_OUT = re.compile(r"(\S+) if left out")


def draw(session: Session) -> None:
    """The options of the method, folded; one that is refused says why and changes nothing."""
    method = rwn.METHODS[session.method]
    offered = method_options(method)
    values, refusal = _shown(session, offered)
    if not offered:
        return
    changed = len(session.options)
    title = f"More options ({changed} changed)" if changed else "More options"
    box = folded(title, _key(session, "options"), expanded=bool(refusal))
    if box is None:
        return
    with box:
        if session.of_rwn:
            _presets(session)
        for option in offered:
            key = _key(session, option.name)
            # an earlier choice, a link or a scenario may have brought another value
            value = values[option.name]
            if option.form == "names":
                value = list(value)
            elif option.form == "text":
                value = json.dumps(dict(value)) if value and not isinstance(value, str) else value
                value = value or ""
            elif option.form == "number" and value is not None:
                value = float(value)
            st.session_state[key] = value
            names = names_for(option, session.data.schema)
            field(option, names, key=key, on_change=_take, args=(session, option, session.method))
        if refusal:
            st.warning(escaped(refusal))


def _presets(session: Session) -> None:
    """Buttons that go over to hard or soft neighborhoods, with all options and sliders."""
    for name, (*start, help) in _PRESETS.items():
        st.button(
            name,
            key=_key(session, name),
            on_click=_take_preset,
            args=(session, *start),
            help=help,
            width="stretch",
        )


def _take_preset(session: Session, method: str, levers: Mapping[str, float]) -> None:
    """Take over a preset, unless its button has gone from the page."""
    if session.of_rwn:
        setting = replace(session.setting, params=first_setting(method))
        set_setting(session, setting, levers, "Standard")


def _key(session: Session, what: str) -> str:
    return session.key(f"tune.option.{session.method}.{what}")


def _shown(session: Session, offered: Sequence[Option]) -> tuple[dict[str, Any], str]:
    """Values of the fields, and the reason if they were refused."""
    values = {option.name: option.default for option in offered} | dict(session.options)
    about, asked, refusal = st.session_state.get(_key(session, "asked"), (None, {}, ""))
    if about != session.options:  # something else was chosen since
        return values, ""
    return values | asked, refusal


def _take(session: Session, option: Option, shown: str) -> None:
    """Take over what a field says together with the others, or keep why it cannot be."""
    if session.method != shown:
        return  # the field of another method has gone from the page
    method = rwn.METHODS[session.method]
    values, _ = _shown(session, method_options(method))
    values[option.name] = st.session_state[_key(session, option.name)]
    if option.name == "neighbors":
        values |= {"m": None, "u": None, "fresh": False}
        values |= usual_sizes(values["neighbors"], session.data.n)
    asked = _key(session, "asked")
    try:
        made = method(**values, **neutral_levers(method))
        st.session_state.pop(asked, None)
        set_setting(session, replace(session.setting, params=made), KEPT, "Standard")
    except rwn.RWNError as refusal:
        st.session_state[asked] = (session.options, dict(values), str(refusal))


def names_for(option: Option, schema: rwn.Schema) -> list[str]:
    """Return the variables that an option may name: for a radius also those that stay inside."""
    if option.form == "name":
        return [each.name for each in schema.variables if each.kind in NUMBERS]
    return [each.name for each in schema.released]


def field(option: Option, names: Sequence[str], **about: Any) -> Any:
    """Draw the field of an option; what it holds."""
    label = "Own donors" if option.name == "own" else option.title
    shown = {"label": label, "help": escaped(option.help), **about}
    if option.form in ("whole", "number"):
        default = _LEFT_OUT.search(option.help)
        shown["placeholder"] = default[1] if default else "none"
    fields: dict[str, tuple[Any, dict[str, Any]]] = {
        "choice": (
            st.selectbox,
            {
                "options": option.choices,
                "format_func": lambda choice: option.titles.get(choice, choice),
            },
        ),
        "switch": (st.toggle, {}),
        "whole": (st.number_input, {"min_value": 0, "step": 1}),
        "number": (st.number_input, {"min_value": 0.0, "step": 0.05, "format": "%g"}),
        "name": (st.selectbox, {"options": names, "index": None, "placeholder": "none"}),
        "names": (st.multiselect, {"options": names, "placeholder": "as by default"}),
        "formula": (st.text_input, {"placeholder": "none"}),
        "text": (st.text_area, {"placeholder": "none", "height": 80}),
    }
    widget, more = fields[option.form]
    return widget(**more | shown)
