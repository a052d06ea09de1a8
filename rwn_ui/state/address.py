"""The address of a page: a link that another person can open, and nothing secret in it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.plain import LONGEST_LINK
from rwn_core.data.rounding import check_precision, steps_by_name
from rwn_core.masking import Option, fixed_options, in_present_names, method_options
from rwn_core.masking.lever import neutral_levers
from rwn_ui.background.preparation import Preparation
from rwn_ui.panel.tab import show_address
from rwn_ui.server.given_file import given_file
from rwn_ui.server.messages import escaped
from rwn_ui.state import visit
from rwn_ui.state.change_table import change_method, reslice, reweigh
from rwn_ui.state.results import Key, preparation_key, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

_ASKED, _TAKING, _NOTES = "link.asked", "link.taking", "link.notes"
_LOADED, _STARTED = "1", "start"  # a table of one's own: from the Data page, of `rwn app FILE`


def read(session: Session) -> None:
    """Take what the address says, once; of an own table that is not here, when one is loaded."""
    if _ASKED not in st.session_state:
        asked = visit.current().asked  # whatever page has been opened since
        method, asked = in_present_names(asked.get("method", rwn.RWN.method), asked)
        asked |= {"method": method} if "kernel" in asked else {}
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
    if asked and not _elsewhere(session, asked):
        st.session_state[_ASKED] = {}  # it speaks of the table that it opened, not of a later one
        st.session_state[_TAKING] = _Taking(asked, session.table_version)
    taking, coming = st.session_state.get(_TAKING), user_work().preparation
    if taking is not None and not taking.continues_setting(session):
        del st.session_state[_TAKING]
    _show(session)
    if user_work().preparation not in (None, coming):
        st.rerun()  # the top of the page waits for the started work


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


@dataclass(slots=True)
class _Taking:
    """An address that is being taken over: a step waits for the table that another one chose."""

    asked: Mapping[str, str]
    table_version: int  # of the table that it speaks of
    step: int = 0
    waits: tuple[Key, Preparation] | None = None  # the table to leave, and the one to open
    refused: list[str] = field(default_factory=list)

    def continues_setting(self, session: Session) -> bool:
        """Take what can be taken now, and note what cannot; whether something is left."""
        work = user_work()
        while self.step < len(_STEPS) and self.table_version == session.table_version:
            key, coming = _key(session), work.preparation
            if self.waits is not None and self.waits[0] == key:
                return coming is self.waits[1]  # else it was given up
            if self.step and self.asked.get("method", session.method) != session.method:
                return False  # that method is unknown, and so are its levers
            self.refused += _STEPS[self.step](session, self.asked)
            self.step += 1
            _note(session, *self.refused)
            asked_for = work.preparation
            started = asked_for is not None and asked_for is not coming and _key(session) == key
            self.waits = (key, asked_for) if asked_for is not None and started else None
        return False


def _key(session: Session) -> Key:
    return preparation_key(session.data, session.method, session.options)


def _take_method(session: Session, asked: Mapping[str, str]) -> list[str]:
    """The method, at once or once its table is ready."""
    method = asked.get("method", session.method)
    if method not in rwn.METHODS:
        known = ", ".join(rwn.METHODS)
        return [f"method of the link must be one of: {known}; it is left as it was."]
    if method != session.method:
        change_method(session, method)
    return []


def _take_slices(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Slices, by the variables' numbers in the table: a link contains no name."""
    if "slices" not in asked:
        return []
    names = [variable.name for variable in session.data.schema.released]
    try:
        parts = [part.split("-") for part in asked["slices"].split("_") if part]
        reslice(session, [[names[int(number)] for number in part] for part in parts])
    except (ValueError, OverflowError, IndexError, rwn.RWNError):
        return ["slices of the link must be numbers of variables; they are left as they were."]
    return []


def _take_levers(session: Session, asked: Mapping[str, str]) -> list[str]:
    """The sliders' positions; what cannot be used, in sentences."""
    refused = []
    for lever in session.params.levers:
        if lever.name not in asked:
            continue
        ends = prepared(session).prepared.ranges[lever.name]
        value = _number(asked[lever.name], int if lever.whole_number else float)
        if value is None or not ends.low <= value <= ends.high:
            kind = "a whole number" if lever.whole_number else "a number"
            refused.append(
                f"{lever.name} of the link must be {kind} from {ends.low:g} to {ends.high:g}; "
                "it is left as it was."
            )
        else:
            session.levers[lever.name] = value
    return refused


def _number(text: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError):  # a whole number of hundreds of digits
        return None


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
    query = {name: f"{value:g}" for name, value in session.levers.items()}
    if session.method != "rwn":
        query["method"] = session.method
    query |= _write_options(session) | _write_numbers(session)
    if session.slices != session.own_slices:
        query["slices"] = _numbered(session)
    if session.demo is None:
        query["own"] = _STARTED if _started_with(session) else _LOADED
    else:
        query["demo"] = session.demo
    if session.projector:
        query["projector"] = "1"
    return query


def _numbered(session: Session) -> str:
    names = [variable.name for variable in session.data.schema.released]
    numbers = ("-".join(str(names.index(name)) for name in one) for one in session.slices)
    return "_".join(numbers) or "_"  # an empty value would not be kept


def write(session: Session, **more: str) -> None:
    """Keep the address shareable; some pages have more to say."""
    show_address(address(session) | more)


NONE = "_"  # an empty value would not be kept
LARGEST_WEIGHT = 100.0


def _write_numbers(session: Session) -> dict[str, str]:
    """The weights that are not 1 and the steps of rounded variables; nothing where there are none.

    A link names no variable: each is known by its number in the table. The word is "weight", since
    methods have a parameter "weights".
    """
    query, released = {}, session.data.schema.released
    weights = [(variable.name, variable.weight) for variable in released if variable.weight != 1]
    if weights and rwn.METHODS[session.method].uses_weights:
        query["weight"] = _numbers_text(session, weights)
    if session.precision:
        query["rounding"] = _numbers_text(session, session.precision)
    return query


def take_numbers(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Take over weights and steps of an address, each all or none; sentences where refused."""
    return [*_take_weights(session, asked), *_take_steps(session, asked)]


def _take_weights(session: Session, asked: Mapping[str, str]) -> list[str]:
    if "weight" not in asked:
        return []
    try:
        given = _numbers(session, asked["weight"])
        weights = {variable.name: 1.0 for variable in session.data.schema.released} | given
        if not any(weights.values()) or max(weights.values()) > LARGEST_WEIGHT:
            raise ValueError
        reweigh(session, weights)
        session.edit_version += 1  # the table of weights shows them
    except (ValueError, IndexError, rwn.RWNError):
        return [
            "weight of the link must be numbers of variables with weights from 0 to 100, not all "
            "0; it is left as it was."
        ]
    return []


def _take_steps(session: Session, asked: Mapping[str, str]) -> list[str]:
    if "rounding" not in asked:
        return []
    try:
        given = _numbers(session, asked["rounding"])
        check_precision(session.data, given)
    except (ValueError, IndexError, rwn.RWNError):
        return [
            "rounding of the link must be numbers of numeric variables with steps above 0; it is "
            "left as it was."
        ]
    session.precision = steps_by_name(given)
    session.edit_version += 1  # the table of steps shows them
    return []


def _numbers_text(session: Session, numbers: Iterable[tuple[str, float]]) -> str:
    names = _names(session)
    return "_".join(f"{names.index(name)}-{value:.12g}" for name, value in numbers) or NONE


def _numbers(session: Session, text: str) -> dict[str, float]:
    """By the variables' names."""
    names, numbers = _names(session), {}
    for part in text.split("_"):
        if part:
            position, _, value = part.partition("-")
            numbers[names[int(position)]] = float(value)
    if not all(math.isfinite(value) and value >= 0 for value in numbers.values()):
        raise ValueError
    return numbers


def _names(session: Session) -> list[str]:
    return [variable.name for variable in session.data.schema.released]


def _write_options(session: Session) -> dict[str, str]:
    """The options that are not the method's defaults; variables by their numbers in the table."""
    chosen, names = dict(session.options), _all_names(session)
    return {
        _linked(option): _option_text(option, chosen[option.name], names)
        for option in method_options(rwn.METHODS[session.method])
        if option.name in chosen
    }


def take_options(session: Session, asked: Mapping[str, str]) -> list[str]:
    """Take over the options of an address, all or none; a sentence where they are refused."""
    method, names = rwn.METHODS[session.method], _all_names(session)
    offered = [option for option in method_options(method) if _linked(option) in asked]
    if not offered:
        return []
    try:
        values = {
            option.name: _option_value(option, asked[_linked(option)], names) for option in offered
        }
        made = method(**values, **neutral_levers(method))
        change_method(session, session.method, tuple(fixed_options(made).items()))
    except rwn.RWNError as refusal:
        return [f"Options of the link are left as they were: {refusal}"]
    except (ValueError, IndexError, AttributeError, TypeError, OverflowError, RecursionError):
        listed = ", ".join(option.name for option in offered)
        return [f"{listed} of the link cannot be read; all options are left as they were."]
    return []


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
    return text if option.form == "choice" else {"whole": int, "number": float}[option.form](text)


_STEPS: tuple[Callable[[Session, Mapping[str, str]], list[str]], ...] = (
    _take_method,
    take_options,
    take_numbers,  # before the levers, since their ends follow weights
    _take_levers,
    _take_slices,
)
