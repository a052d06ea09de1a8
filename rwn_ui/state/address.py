"""The address of a page: a link that another person can open, and nothing secret in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import streamlit as st

import rwn_core as rwn
from rwn_core.data.plain import LONGEST_LINK
from rwn_core.data.regression import Factor, Formula
from rwn_core.data.rounding import Steps, check_precision, steps_by_name
from rwn_core.data.schema import Slices
from rwn_core.data.use import StatedRegression, Use, written_formula
from rwn_core.masking import Method, Option, in_present_names, method_options
from rwn_ui.background.task import Task
from rwn_ui.panel.tab import show_address
from rwn_ui.server.given_file import given_file
from rwn_ui.server.messages import escaped
from rwn_ui.state import visit
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.results import Key, preparation_key, prepared
from rwn_ui.state.session import KEPT, Session, first_setting

_ASKED, _TAKING, _NOTES = "link.asked", "link.taking", "link.notes"
_SETTING, _BETWEEN = "setting", "*"  # no browser writes a star in another way
_LOADED, _STARTED = "1", "start"  # a table of one's own: from the Data page, of `rwn app FILE`


def read(session: Session) -> None:
    """Take what the address says, once; of an own table that is not here, when one is loaded."""
    if _ASKED not in st.session_state:
        asked = visit.current().asked  # whatever page has been opened since
        if sum(map(len, asked.values())) > LONGEST_LINK:
            _note(session, "The link is too long; the page opens without its settings.")
            asked = {}
        st.session_state[_ASKED] = asked
        session.projector = asked.get("projector") == "1" or session.projector
        if _elsewhere(session, asked):
            session.link = session.table_version, session.words, asked
            _note(
                session,
                f"This address belongs to a table that is not here: {session.name} is shown "
                "instead, and your table starts at the address’s sliders when you load it on "
                "the Data page.",
            )
    asked = st.session_state[_ASKED]
    work = session.user.work
    coming = work.preparation
    if asked and not _elsewhere(session, asked):
        st.session_state[_ASKED] = {}  # it speaks of the table that it opened, not of a later one
        before = preparation_key(session, session.data, session.params)
        asked, refused = _taken(session, asked)
        started = None if work.preparation is coming else work.preparation
        st.session_state[_TAKING] = _Taking(asked, refused, session.table_version, before, started)
        _note(session, *refused)
    taking: _Taking | None = st.session_state.get(_TAKING)
    if taking is not None and (taking.started is None or taking.started is not work.preparation):
        del st.session_state[_TAKING]
        given_up = (
            taking.started is not None
            and preparation_key(session, session.data, session.params) == taking.before
        )
        if taking.table_version == session.table_version and not given_up:
            _note(session, *taking.refused, *_take_levers(session, taking.asked))
    _show(session)
    if work.preparation not in (None, coming):
        st.rerun()  # the top of the page waits for the started work


def _taken(session: Session, asked: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Go over to a link's setting but for its levers; its parts, and sentences of refusal."""
    try:
        parts = _parts(asked)
    except rwn.ParameterError as refusal:  # of a setting that is gone
        return {}, [str(refusal)]
    return parts, take_setting(session, parts)


def _parts(asked: Mapping[str, str]) -> dict[str, str]:
    """The parts of a link's setting by name; earlier versions had a parameter for each."""
    parts = asked.get(_SETTING, "").split(_BETWEEN)
    asked = {**dict(zip(parts[::2], parts[1::2], strict=False)), **asked}
    method, asked = in_present_names(asked.get("method", rwn.RWN.method), asked)
    return asked | ({"method": method} if "kernel" in asked else {})


def _elsewhere(session: Session, asked: Mapping[str, str]) -> bool:
    """True if the address is of a user's own table, and this one cannot be it."""
    own = asked.get("own")
    if own is None:
        return False
    return session.demo is not None or (own == _LOADED and _started_with(session))


def _started_with(session: Session) -> bool:
    """True if the table is the file of the command line, which each new session opens."""
    given = given_file()
    return given is not None and session.demo is None and session.name == given.name


class _Taking(NamedTuple):
    """An address that is taken over: its levers wait for the table of its method and weights."""

    asked: Mapping[str, str]
    refused: list[str]
    table_version: int  # of the table that it speaks of
    before: Key
    started: Task | None


def take_setting(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Go over to the setting of an address, but for its levers; sentences where it is refused."""
    method = asked.get("method", session.method)
    if method not in rwn.METHODS:  # and so are its levers
        known = ", ".join(rwn.METHODS)
        return [f"method of the link must be one of: {known}; it is left as it was."]
    params, refused = _linked_params(session, method, asked)
    if "use" in asked:
        try:
            session.state_use(_use_of_link(asked["use"], _names(session)))
        except (ValueError, IndexError, rwn.RWNError):
            refused.append("use of the link cannot be read; it is left as it was.")
    setting = replace(session.setting, params=params)
    for name, (field, read, kind) in _NUMBERED.items():
        try:
            if name in asked:
                setting = replace(setting, **{field: read(session, asked[name])})
        except (ValueError, OverflowError, IndexError, rwn.RWNError):
            refused.append(f"{name} of the link must be {kind}; they are left as they were.")
    set_setting(session, setting, *([] if params is session.params else [KEPT, "Standard"]))
    return refused


def _linked_params(
    session: Session, method: str, asked: Mapping[str, str]
) -> tuple[Method, list[str]]:
    """Return a method with the options of an address, and sentences where they are refused."""
    options = [each for each in method_options(rwn.METHODS[method]) if _linked(each) in asked]
    before = session.params if method == session.method else first_setting(method)
    if not options:
        return before, []
    try:
        names = _all_names(session)
        values = {each.name: _option_value(each, asked[_linked(each)], names) for each in options}
        return first_setting(method, values), []
    except rwn.RWNError as refusal:
        return before, [f"Options of the link are left as they were: {refusal}"]
    except (ValueError, IndexError, AttributeError, TypeError, OverflowError, RecursionError):
        listed = ", ".join(option.name for option in options)
        return before, [f"{listed} of the link cannot be read; all options are left as they were."]


def _weights(session: Session, text: str) -> tuple[tuple[str, float], ...]:
    given = _numbers(session, text)
    weights = dict.fromkeys(_names(session), 1.0) | given
    if not any(weights.values()) or max(weights.values()) > LARGEST_WEIGHT:
        raise ValueError
    return tuple(sorted(each for each in given.items() if each[1] != 1.0))


def _steps(session: Session, text: str) -> Steps:
    given = _numbers(session, text)
    check_precision(session.data, given)
    return steps_by_name(given)


def _slices(session: Session, text: str) -> Slices:
    names = _names(session)
    parts = [part.split("-") for part in text.split("_") if part]
    named = [[names[int(number)] for number in part] for part in parts]
    return session.data.schema.with_slices(named).slices


LARGEST_WEIGHT = 100.0
_NUMBERED: dict[str, tuple[str, Callable[[Session, str], Any], str]] = {
    "weight": (
        "weights",
        _weights,
        f"numbers of variables with weights from 0 to {LARGEST_WEIGHT:g}, not all 0",
    ),
    "rounding": ("precision", _steps, "numbers of numeric variables with steps above 0"),
    "slices": ("slices", _slices, "numbers of variables"),
}
"""Parts of a link that name variables by their numbers: fields of the setting."""


def _take_levers(session: Session, asked: Mapping[str, str]) -> list[str]:
    """The sliders' positions; what cannot be used, in sentences."""
    refused = []
    for lever in session.params.levers:
        if lever.name not in asked:
            continue
        ends = prepared(session).prepared.ranges[lever.name]
        try:
            value = (int if lever.whole_number else float)(asked[lever.name])
        except (ValueError, OverflowError):  # a whole number of hundreds of digits
            value = math.nan
        if not ends.low <= value <= ends.largest:
            kind = "a whole number" if lever.whole_number else "a number"
            refused.append(
                f"{lever.name} of the link must be {kind} from {ends.low:g} to {ends.largest:g}; "
                "it is left as it was."
            )
        else:
            session.move(**{lever.name: value})
    return refused


def _note(session: Session, *sentences: str) -> None:
    st.session_state[_NOTES] = (session.table_version, session.words, sentences)


def _show(session: Session) -> None:
    """Notice on the address, until another setting is chosen."""
    table_version, words, sentences = st.session_state.get(_NOTES, (0, "", ()))
    if (table_version, words) != (session.table_version, session.words):
        st.session_state.pop(_NOTES, None)
        return
    if sentences:
        st.space("xxsmall")  # below the bar of pages
    for sentence in sentences:
        st.warning(escaped(sentence))


def address(session: Session) -> dict[str, str]:
    """Parameters of a shareable address: settings and a demo's name, never a file or a seed."""
    # That of a table which is not here stays until another setting is chosen.
    if session.link is not None and session.link[:2] == (session.table_version, session.words):
        return dict(session.link[2])
    query = {_SETTING: _BETWEEN.join(chain.from_iterable(_setting_parts(session).items()))}
    if session.demo is None:
        query["own"] = _STARTED if _started_with(session) else _LOADED
    else:
        query["demo"] = session.demo
    if session.projector:
        query["projector"] = "1"
    return query


def _setting_parts(session: Session) -> dict[str, str]:
    """The setting without a name of a variable: each is known by its number in the table.

    The word is "weight", since methods have a parameter "weights".
    """
    method = rwn.METHODS[session.method]
    names = _names(session)
    chosen = dict(session.options)
    parts = {name: f"{value:g}" for name, value in session.levers.items()}
    if session.method != "rwn":
        parts["method"] = session.method
    parts |= {
        _linked(option): _option_text(option, chosen[option.name], _all_names(session))
        for option in method_options(method)
        if option.name in chosen
    }
    numbered = {"weight": session.setting.weights * method.uses_weights}
    for name, values in (numbered | {"rounding": session.precision}).items():
        if values:
            parts[name] = "_".join(f"{names.index(each)}-{value:.12g}" for each, value in values)
    if session.slices != session.own_slices:
        numbers = ("-".join(str(names.index(name)) for name in one) for one in session.slices)
        parts["slices"] = "_".join(numbers)
    use = session.data.schema.use
    if use is not None and use != session.own_use and set(use.names) <= set(names):
        parts["use"] = _use_text(use, names)
    return parts


def _use_text(use: Use, names: list[str]) -> str:
    """Write a use with numbers for its variables: "14_linear.14.0.square0.3x5"."""

    def written(factor: Factor) -> str:
        return f"{factor.transform}{names.index(factor.name)}"

    parts = ["-".join(str(names.index(name)) for name in use.confidential)]
    for regression in use.regressions:
        formula = Formula.parse(regression.formula)
        terms = ["x".join(map(written, term)) for term in formula.terms]
        parts.append(".".join([regression.kind, written(formula.response), *terms]))
    return "_".join(parts)


_LINKED_FACTOR = re.compile("(log|sqrt|square)?([0-9]{1,6})")


def _use_of_link(text: str, names: list[str]) -> Use:
    """Read what `_use_text` wrote; raise ValueError, IndexError or a refusal where it cannot be."""

    def factor(part: str) -> str:
        match = _LINKED_FACTOR.fullmatch(part)
        if match is None:
            raise ValueError
        name = f"`{names[int(match[2])]}`"
        return f"{match[1]}({name})" if match[1] else name

    confidential, *regressions = text.split("_")
    stated = []
    for each in regressions:
        kind, response, *terms = each.split(".")
        products = [":".join(map(factor, term.split("x"))) for term in terms]
        formula = f"{factor(response)} ~ {' + '.join(products)}"
        stated.append(StatedRegression(formula=written_formula(formula), kind=kind))
    numbers = filter(None, confidential.split("-"))
    return Use(
        confidential=tuple(names[int(number)] for number in numbers), regressions=tuple(stated)
    )


def write(session: Session, **more: str) -> None:
    """Keep the address shareable; some pages have more to say."""
    show_address(address(session) | more)


def _numbers(session: Session, text: str) -> dict[str, float]:
    """By the variables' names."""
    names = _names(session)
    numbers = {}
    for part in text.split("_"):
        if part:
            position, _, value = part.partition("-")
            numbers[names[int(position)]] = float(value)
    if not all(math.isfinite(value) and value >= 0 for value in numbers.values()):
        raise ValueError
    return numbers


def _names(session: Session) -> list[str]:
    return [variable.name for variable in session.data.schema.released]


def _linked(option: Option) -> str:
    """The name of an option in a link; own is taken, by the origin of the table."""
    return "own_donors" if option.name == "own" else option.name


def _all_names(session: Session) -> list[str]:
    schema = session.data.schema  # those that stay inside come last
    released = [each.name for each in schema.released]
    return released + [name for name in schema.names if name not in released]


def _option_text(option: Option, value: Any, names: list[str]) -> str:
    if option.form == "switch":
        return "1" if value else "0"
    if option.form == "name":
        return str(names.index(value))
    if option.form == "names":
        return "-".join(str(names.index(name)) for name in value)
    if option.form == "text":
        return json.dumps({names.index(name): rows for name, rows in value}, separators=(",", ":"))
    return value if isinstance(value, str) else f"{value:g}"


def _option_value(option: Option, text: str, names: list[str]) -> Any:
    if option.form == "switch":
        return text == "1"
    if option.form == "name":
        return names[int(text)]
    if option.form == "names":
        return tuple(names[int(number)] for number in text.split("-"))
    if option.form == "text":
        return {names[int(number)]: rows for number, rows in json.loads(text).items()}
    return (
        text
        if option.form in ("choice", "formula")
        else {"whole": int, "number": float}[option.form](text)
    )
