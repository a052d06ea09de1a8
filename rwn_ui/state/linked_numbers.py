"""Writes weights and steps into a page's address, by the variables' numbers, and reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import rwn_core as rwn
from rwn_core.data.rounding import check_precision, steps_by_name
from rwn_ui.state.change_table import reweigh
from rwn_ui.state.session import Session

NONE = "_"  # an empty value would not be kept
LARGEST_WEIGHT = 100.0


def write(session: Session) -> dict[str, str]:
    """The weights that are not 1 and the steps of rounded variables; nothing where there are none.

    A link names no variable: each is known by its number in the table. The word is "weight", since
    methods have a parameter "weights".
    """
    query, released = {}, session.data.schema.released
    weights = [(variable.name, variable.weight) for variable in released if variable.weight != 1]
    if weights and rwn.METHODS[session.method].uses_weights:
        query["weight"] = _text(session, weights)
    if session.precision:
        query["rounding"] = _text(session, session.precision)
    return query


def take(session: Session, asked: Mapping[str, str]) -> list[str]:
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


def _text(session: Session, numbers: Iterable[tuple[str, float]]) -> str:
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
