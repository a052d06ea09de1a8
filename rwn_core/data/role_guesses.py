"""Guesses of what each variable is for an intruder or in a survey, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rwn_core.data.identity import SAMPLING_WEIGHT
from rwn_core.data.identity.gate import doubts_of_schema
from rwn_core.data.identity.words import NameWords, Subject, word_list
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role, Variable

_LIVES = {Subject.BIRTH, Subject.POSTCODE, Subject.PLACE}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGuess:
    """Guess the role of one variable."""

    variable: str
    role: Role
    reason: str  # part of a sentence, without a value


def guessed_roles(frame: pd.DataFrame, schema: Schema) -> list[RoleGuess]:
    """Guess the roles of variables that have none of their own."""
    # Names decide, and for households and sampling weights the values as well. A guess is for a
    # person to confirm: most files name their variables in a way that no list knows.
    doubts = {doubt.variable: doubt.looks_like for doubt in doubts_of_schema(frame, schema)}
    taken = {variable.role for variable in schema.variables}
    found: list[RoleGuess] = []
    for variable in schema.released:
        if variable.role is not Role.OTHER:
            continue
        guess = _guess(variable, doubts.get(variable.name, ""), taken)
        if guess is not None:
            found.append(guess)
            if guess.role in (Role.HOUSEHOLD, Role.SAMPLING_WEIGHT):
                taken.add(guess.role)
    return found


def _guess(variable: Variable, looks_like: str, taken: set[Role]) -> RoleGuess | None:
    named = NameWords(variable.name)
    if looks_like == SAMPLING_WEIGHT and Role.SAMPLING_WEIGHT not in taken:
        role, reason = Role.SAMPLING_WEIGHT, "its name and values are those of a weight"
    elif looks_like == str(Subject.HOUSEHOLD) and Role.HOUSEHOLD not in taken:
        role, reason = Role.HOUSEHOLD, "its values number groups of records"
    elif looks_like:
        return None  # asked for by itself: it may identify people
    elif _has(named, "confidential"):
        role, reason = Role.CONFIDENTIAL, "by its name"
    elif _has(named, "key") or named.subjects & _LIVES:
        role, reason = Role.KEY, "by its name"
    else:
        return None
    return RoleGuess(variable=variable.name, role=role, reason=reason)


def _has(named: NameWords, role: str) -> bool:
    return bool({*named.words, "".join(named.words)} & word_list("roles", role))


def with_roles(schema: Schema, guesses: list[RoleGuess]) -> Schema:
    """Return the schema with the guessed roles."""
    for guess in guesses:
        schema = schema.replace_variable(guess.variable, role=guess.role)
    return schema
