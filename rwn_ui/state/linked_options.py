"""Writes a method's options into a page's address, without a name of the table, and reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.masking import Option, fixed_options, method_options
from rwn_core.masking.lever import levers_under, neutral_levers
from rwn_ui.state.change_table import change_options
from rwn_ui.state.session import Session


def write(session: Session) -> dict[str, str]:
    """The options that are not the method's defaults; variables by their numbers in the table."""
    chosen, names = dict(session.options), _names(session)
    return {
        _linked(option): _text(option, chosen[option.name], names)
        for option in method_options(rwn.METHODS[session.method])
        if option.name in chosen
    }


def take(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Take over the options of an address, all or none; a sentence where they are refused."""
    method, names = rwn.METHODS[session.method], _names(session)
    sliders = {lever.name for lever in levers_under(method, asked)}
    offered = [
        option
        for option in method_options(method)
        if _linked(option) in asked and option.name not in sliders
    ]
    if not offered:
        return []
    try:
        values = {option.name: _value(option, asked[_linked(option)], names) for option in offered}
        made = method(**values, **neutral_levers(method, values))
        change_options(session, tuple(fixed_options(made).items()))
    except rwn.RWNError as refusal:
        return [f"Options of the link are left as they were: {refusal}"]
    except (ValueError, IndexError, AttributeError, TypeError, OverflowError, RecursionError):
        listed = ", ".join(option.name for option in offered)
        return [f"{listed} of the link cannot be read; all options are left as they were."]
    return []


def _linked(option: Option) -> str:
    """The name of an option in a link; own is taken, by the origin of the table."""
    return "own_donors" if option.name == "own" else option.name


def _names(session: Session) -> list[str]:
    schema = session.data.schema  # those that stay inside come last
    return [each.name for each in sorted(schema.variables, key=lambda v: not v.is_released)]


def _text(option: Option, value: Any, names: list[str]) -> str:
    if option.form == "switch":
        return "1" if value else "0"
    if option.form == "name":
        return str(names.index(value))
    if option.form == "names":
        return "-".join(str(names.index(name)) for name in value)
    if option.form == "text":
        return json.dumps({names.index(name): rows for name, rows in value}, separators=(",", ":"))
    return value if isinstance(value, str) else f"{value:g}"


def _value(option: Option, text: str, names: list[str]) -> Any:
    if option.form == "switch":
        return text == "1"
    if option.form == "name":
        return names[int(text)]
    if option.form == "names":
        return tuple(names[int(number)] for number in text.split("-"))
    if option.form == "text":
        return {names[int(number)]: rows for number, rows in json.loads(text).items()}
    return text if option.form == "choice" else {"whole": int, "number": float}[option.form](text)
