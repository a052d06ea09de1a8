"""Guesses of what each variable is for an intruder or in a survey, each with its reason."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rwn_core.data.identity import SAMPLING_WEIGHT
from rwn_core.data.identity.gate import doubts_of_schema
from rwn_core.data.identity.panel import COMES_AGAIN
from rwn_core.data.identity.profile import NameWords, Subject, plain_letters, word_list
from rwn_core.data.plain import toml_document
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import SchemaError

_LIVES = {Subject.BIRTH, Subject.POSTCODE, Subject.PLACE}
_FEWEST_NAMES = 5  # of an official file, below which a table is not taken for one
_HEAVIEST = 400.0  # what a body weighs in any unit, on the median
_REPLICATES = 8  # weights of one name with rising numbers
# what stands before the name of a quantity (logarithm, husband, average) and after it (square)
_MARKED = re.compile(
    r"^(?:ln?|log)?(?:hus|husb|wife|nwife|sp|fath|moth|fam|pers?|hh|ann|hr|avg|rep|tot|[fmhn])?"
    r"(?=age|educ|wage|inc|sal|pay|race|occ|sex|born)|\d+|sqr?\d*$"
)
_NUMBERING = (Role.SAMPLING_WEIGHT, Role.HOUSEHOLD, Role.PERSON)  # a table has one of each
_ROLES = (*_NUMBERING, Role.IDENTIFIER, Role.CONFIDENTIAL, Role.KEY)


_BY_DOUBT = {
    SAMPLING_WEIGHT: (Role.SAMPLING_WEIGHT, "its name and values are those of a weight"),
    str(Subject.HOUSEHOLD): (Role.HOUSEHOLD, "its values number groups of records"),
    COMES_AGAIN: (Role.PERSON, "several rows have each of its values, as people who come again"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGuess:
    """A guess of the role of one variable."""

    variable: str
    role: Role
    reason: str  # part of a sentence, without a value


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardFile:
    """The official file that a table looks like, and the roles of its variables."""

    name: str
    roles: dict[str, Role]  # by the names of the table
    released: int  # variables of the table

    @property
    def sentence(self) -> str:
        """Say which file it looks like, and by how many names."""
        return f"This looks like {self.name}: {len(self.roles)} of {self.released} names."


@cache
def _standards() -> list[dict[str, Any]]:
    text = (files(__package__) / "standard_files.toml").read_text(encoding="utf-8")
    return list(toml_document(text, "list of official files")["file"])


def standard_file(names: Iterable[str]) -> StandardFile | None:
    """Find the official file that most names of a table belong to; None where few do."""
    given = list(names)
    best = None
    small = [name.lower() for name in given]
    for standard in _standards():
        roles: dict[str, Role] = {}  # in the order of the list: the first weight is the best one
        for role in _ROLES:
            for pattern in standard.get(role.name.lower(), "").split():
                some = {*fnmatch.filter(small, pattern)}
                for name, each in zip(given, small, strict=True):
                    if each in some:
                        roles.setdefault(name, role)
        own = {name.lower() for name in roles}
        sure = any(fnmatch.filter(own, pattern) for pattern in standard["sure"].split())
        enough = sure and len(roles) >= max(_FEWEST_NAMES, 0.4 * len(given))
        if enough and (best is None or len(roles) > len(best.roles)):
            best = StandardFile(name=standard["name"], roles=roles, released=len(given))
    return best


def guessed_roles(frame: pd.DataFrame, schema: Schema) -> list[RoleGuess]:
    """Guess the roles of variables that have none of their own."""
    # The names of official files decide first, then names and labels, then values. A guess is for
    # a person to confirm: most files name their variables in a way that no list knows.
    doubts = {doubt.variable: doubt.looks_like for doubt in doubts_of_schema(frame, schema)}
    free = [v for v in schema.released if v.role is Role.OTHER and not v.confirmed]
    households = schema.name_with_role(Role.HOUSEHOLD) or _called_household(doubts)
    given = _Given(
        frame=frame,
        doubts=doubts,
        taken={variable.role for variable in schema.variables},
        together=None if households is None else frame[households],
        official=standard_file(variable.name for variable in schema.released),
        replicates=_replicates(frame, [variable.name for variable in free]),
    )
    found: list[RoleGuess] = []
    for variable in sorted(free, key=given.place):
        role, reason = given.role_of(variable)
        role = _once(role, given.taken)
        if role is not Role.OTHER:
            found.append(RoleGuess(variable=variable.name, role=role, reason=reason))
    return sorted(found, key=lambda each: schema.names.index(each.variable))


def _called_household(doubts: Mapping[str, str]) -> str | None:
    """Return the first variable that looks like the number of a household."""
    for name, looks in doubts.items():
        if looks == str(Subject.HOUSEHOLD):
            return name
    return None


class _Given(NamedTuple):
    """A table as it is known before the role of one variable is guessed."""

    frame: pd.DataFrame
    doubts: Mapping[str, str]  # by variable: what it looks like
    taken: set[Role]
    together: pd.Series[Any] | None  # the household of each record
    official: StandardFile | None
    replicates: set[str]

    def place(self, variable: Variable) -> int:
        """Where a variable stands among the names of the official file; others come last."""
        known = [] if self.official is None else list(self.official.roles)
        return known.index(variable.name) if variable.name in known else len(known)

    def role_of(self, variable: Variable) -> tuple[Role, str]:
        """Return the role of a variable, and why."""
        name = variable.name
        if name in self.replicates:
            return Role.IDENTIFIER, "replicate weights together name a record's stratum"
        if self.official is not None and name in self.official.roles:
            names = f"{len(self.official.roles)} of {self.official.released} names"
            return self.official.roles[name], f"{self.official.name} calls it so ({names})"
        column = self.frame[name]
        looks_like = self.doubts.get(name, "")
        free = Role.SAMPLING_WEIGHT not in self.taken
        if free and _is_weight(column, variable, self.together):
            looks_like = SAMPLING_WEIGHT
        return _guess(column, variable, looks_like, self.taken)


def _once(role: Role, taken: set[Role]) -> Role:
    """Return a role that a table may have once, or what a second one is: it numbers, too."""
    if role not in _NUMBERING:
        return role
    if role in taken:
        return Role.OTHER if role is Role.SAMPLING_WEIGHT else Role.IDENTIFIER
    taken.add(role)
    return role


def _replicates(frame: pd.DataFrame, names: Sequence[str]) -> set[str]:
    """Return the weights of one name with rising numbers."""
    series: dict[str, list[str]] = {}
    for name in names:
        parts = re.fullmatch(r"(.*?[^\d])(\d{1,4})", name)
        if parts is not None and pd.api.types.is_numeric_dtype(frame[name].dtype):
            series.setdefault(parts[1].rstrip("_.").lower(), []).append(name)
    found: set[str] = set()
    for stem, numbered in series.items():
        if len(numbered) >= _REPLICATES and re.search(r"w(eigh)?(g?h?t)|brr|jk|repw|gew", stem):
            found.update(numbered)
    return found


def _guess(
    column: pd.Series[Any], variable: Variable, looks_like: str, taken: set[Role]
) -> tuple[Role, str]:
    """Guess from name, label and values of one variable: its role, other where none, and why."""
    named, labelled = NameWords(variable.name), NameWords(variable.label or "")
    if looks_like:
        # a variable that may identify people is asked for by itself
        role, reason = _BY_DOUBT.get(looks_like, (Role.OTHER, ""))
        if role is Role.PERSON and named.is_of_others:
            return Role.IDENTIFIER, "it numbers other people than those of the records, or flats"
        return Role.OTHER if role in taken else role, reason
    for words, reason in ((named, "by its name"), (labelled, "by its label")):
        joined = "".join(words.words)
        for role in (Role.CONFIDENTIAL, Role.KEY):
            known = {*words.words, joined} & word_list("roles", role.value)
            known |= {_MARKED.sub("", joined)} & word_list("bases", role.value)
            known |= {stem for stem in word_list("role_stems", role.value) if stem in joined}
            if known or (role is Role.KEY and words.subjects & _LIVES):
                return role, reason
    return Role.KEY if _is_key_by_values(column, variable) else Role.OTHER, "by its values"


def _is_weight(
    column: pd.Series[Any], variable: Variable, households: pd.Series[Any] | None
) -> bool:
    """True if numbers are positive, and name, label or households show sampling weights."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.isna().any():
        return False
    named, labelled = NameWords(variable.name), NameWords(variable.label or "")
    values = column.to_numpy(dtype=np.float64)
    if not len(values) or values.min() <= 0 or len(np.unique(values)) < 3:
        return False
    if Subject.WEIGHT in named.subjects | labelled.subjects:
        return True
    if not {*named.words, *labelled.words} & word_list("body_weight"):
        return False
    # people of a household have one weight of the survey, and not one weight of their bodies
    if households is not None and households.duplicated().sum() > _REPLICATES:
        return bool((column.groupby(households).nunique() <= 1).all())
    return float(np.median(values)) > _HEAVIEST


def _is_key_by_values(column: pd.Series[Any], variable: Variable) -> bool:
    """True if the texts, or the labels of the codes, are sexes or countries."""
    labels = [label for _, label in variable.value_labels]
    if not labels and not pd.api.types.is_numeric_dtype(column.dtype):
        labels = [each for each in column.dropna().unique()[:300] if isinstance(each, str)]
    words = {plain_letters(label).lower().strip() for label in labels}
    if len(words) < 2:
        return False
    if len(words & word_list("values", "sexes")) >= 2 and len(words) <= 6:
        return True
    codes = {label.strip() for label in labels if label.strip().isupper()}
    countries = codes & {each.upper() for each in word_list("values", "countries")}
    return len(countries) >= 3 and len(countries) >= 0.9 * len(words)


def with_roles(schema: Schema, guesses: list[RoleGuess]) -> Schema:
    """Return the schema with the guessed roles."""
    return schema.replace_variables({each.variable: {"role": each.role} for each in guesses})


def complete_roles(
    frame: pd.DataFrame, schema: Schema, confidential: Iterable[str], keys: Iterable[str]
) -> tuple[dict[str, str], str]:
    """Return the stated roles with guessed keys or confidential variables if there are none.

    The second part names the guessed ones in words, such as "hiv confidential; age, sex keys".
    """
    stated = stated_roles(confidential, keys)
    open_roles = {"confidential", "key"} - {*stated.values(), *(v.role for v in schema.variables)}
    guessed: dict[str, list[str]] = {}
    for guess in guessed_roles(frame, schema):
        if guess.role in open_roles and guess.variable not in stated:
            guessed.setdefault(str(guess.role), []).append(guess.variable)
    words = [
        f"{', '.join(names)} {role}{'s' if role == 'key' and len(names) > 1 else ''}"
        for role, names in sorted(guessed.items())
    ]
    found: dict[str, str] = {}
    for role, names in guessed.items():
        found |= dict.fromkeys(names, role)
    return found | stated, "; ".join(words)


def stated_roles(confidential: Iterable[str], keys: Iterable[str]) -> dict[str, str]:
    """Return the roles of confidential variables and of keys; one name may be given as a text."""
    secrets, known = ([each] if isinstance(each, str) else [*each] for each in (confidential, keys))
    if twice := [name for name in secrets if name in known]:
        raise SchemaError(f"{twice[0]} is stated to be confidential and a key; give it one role.")
    return dict.fromkeys(secrets, "confidential") | dict.fromkeys(known, "key")


def in_roles(schema: Schema, roles: Mapping[str, str], as_is: Iterable[str] = ()) -> Schema:
    """Give released variables their roles; those of `as_is` are not masked."""
    changes: list[tuple[str, dict[str, Any]]] = [(n, {"role": Role(r)}) for n, r in roles.items()]
    changes += [(n, {"masked": False}) for n in ([as_is] if isinstance(as_is, str) else as_is)]
    for name, change in changes:
        if not schema.variable(name).is_released:
            raise SchemaError(f"{name} is left out of the release; give it no other role.")
        schema = schema.replace_variable(name, **change)
    return schema
