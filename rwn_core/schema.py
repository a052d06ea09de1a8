"""What each variable is: its kind, its role, its weight in the distance."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from rwn_core.errors import SchemaError

LARGEST_WEIGHT = 1e50  # squares of weighted distances stay numbers


class Kind(StrEnum):
    """What the values of a variable are."""

    CONTINUOUS = "continuous"
    COUNT = "count"
    ORDERED = "ordered"
    CATEGORICAL = "categorical"
    DATE = "date"


class Role(StrEnum):
    """What a variable is to an intruder; an identifier can never reach a release."""

    KEY = "key"
    CONFIDENTIAL = "confidential"
    OTHER = "other"
    IDENTIFIER = "identifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One column of the table.

    Parameters
    ----------
    name : str
    kind : Kind
    role : Role
    weight : float
        Factor on the variable's coordinates in the distance, from 0 to 1e50; 0 leaves it out.
    group : str, optional
        Variables of one group take all their values from one common donor.
    masked : bool
        Whether the masking may replace the variable's values.
    levels : tuple of str, optional
        The order of an ordered variable's values.

    Raises
    ------
    SchemaError
    """

    name: str
    kind: Kind
    role: Role = Role.OTHER
    weight: float = 1.0
    group: str | None = None
    masked: bool = True
    levels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check each field by itself."""
        if not isinstance(self.name, str) or not isinstance(self.group, str | None):
            raise SchemaError("The name and the group of a variable must be texts.")
        object.__setattr__(self, "kind", _word(Kind, self.kind, "kind", self.name))
        object.__setattr__(self, "role", _word(Role, self.role, "role", self.name))
        object.__setattr__(self, "weight", _weight(self.weight, self.name))
        if not isinstance(self.masked, bool):
            raise SchemaError(f"The field masked of variable {self.name} must be true or false.")
        if self.levels is not None:
            object.__setattr__(self, "levels", _levels(self.levels, self.name))


_Word = TypeVar("_Word", bound=StrEnum)


def _word(words: type[_Word], value: object, what: str, name: str) -> _Word:
    try:
        return words(str(value))
    except ValueError:
        known = ", ".join(words)
        raise SchemaError(f"The {what} of variable {name} must be one of: {known}.") from None


def _levels(value: object, name: str) -> tuple[str, ...]:
    levels = tuple(value) if isinstance(value, list | tuple) else ()
    if not levels or not all(isinstance(level, str) for level in levels):
        raise SchemaError(f"The levels of variable {name} must be a list of texts in their order.")
    _refuse_repeats(levels, f"among the levels of {name}", "Level")
    return levels


def _weight(value: object, name: str) -> float:
    message = f"The weight of variable {name} must be a number of at least 0; 0 leaves it out."
    if isinstance(value, bool | str):
        raise SchemaError(message)
    try:
        weight = float(value)  # type: ignore[arg-type]  # anything a caller may pass
    except (TypeError, ValueError):
        raise SchemaError(message) from None
    if not (math.isfinite(weight) and weight >= 0):
        raise SchemaError(message)
    if weight > LARGEST_WEIGHT:
        raise SchemaError(
            f"The weight of variable {name} must be at most {LARGEST_WEIGHT:g}; give a smaller one."
        )
    return weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The regression that the data steward wants kept.

    Parameters
    ----------
    response : str
    predictors : tuple of str
    """

    response: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a question without an answerable form."""
        object.__setattr__(self, "predictors", tuple(self.predictors))
        if not self.predictors:
            raise SchemaError("The regression needs at least one predictor; choose one.")
        if self.response in self.predictors:
            raise SchemaError(
                f"Variable {self.response} is both response and predictor of the regression; "
                "take it out of one of the two."
            )
        _refuse_repeats(self.predictors, "as a predictor")


def _refuse_repeats(names: tuple[str, ...], where: str, what: str = "Variable") -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise SchemaError(f"{what} {name} occurs {times} times {where}; name it once.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All variables of a table, in the order of its columns, with the regression to keep.

    Raises
    ------
    SchemaError
        A name occurs twice, or the question names an unknown variable.
    """

    variables: tuple[Variable, ...]
    question: Question | None = None

    def __post_init__(self) -> None:
        """Check names against each other."""
        object.__setattr__(self, "variables", tuple(self.variables))
        _refuse_repeats(self.names, "in the schema")
        for group in {v.group for v in self.variables} - {None}:
            if len({v.masked for v in self.variables if v.group == group}) > 1:
                raise SchemaError(
                    f"Group {group} has masked and unmasked variables; mask all of them or none."
                )
        if self.question is not None:
            for name in (self.question.response, *self.question.predictors):
                if name not in self.names:
                    raise SchemaError(
                        f"The regression names the variable {name}, which the table does not "
                        "have; choose one of its columns."
                    )

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def released(self) -> tuple[Variable, ...]:
        """The variables that a release holds: all but direct identifiers."""
        return tuple(v for v in self.variables if v.role is not Role.IDENTIFIER)

    def require_names(self, names: Sequence[str]) -> None:
        """Refuse a table whose columns are not these variables, in this order.

        Raises
        ------
        SchemaError
        """
        for name in names:
            if name not in self.names:
                raise SchemaError(f"The schema lacks column {name}; add it as a variable.")
        for name in self.names:
            if name not in names:
                raise SchemaError(
                    f"The schema has a variable {name} that the table lacks; take it out."
                )
        if self.names != tuple(names):
            raise SchemaError(
                "The schema has the variables in another order than the table; reorder them."
            )

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise SchemaError(f"There is no variable {name}; the table has: {', '.join(self.names)}.")

    def replace_variable(self, name: str, **changes: Any) -> Schema:
        """This schema with some fields of one variable changed."""
        changed = replace(self.variable(name), **changes)
        return replace(
            self, variables=tuple(changed if v.name == name else v for v in self.variables)
        )

    def with_weights(self, weights: Mapping[str, float]) -> Schema:
        """This schema with the given variables' weights."""
        schema = self
        for name, weight in weights.items():
            schema = schema.replace_variable(name, weight=weight)
        return schema

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the TOML form: a ``[[variable]]`` table each, and an optional ``[question]``."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            place = str(error).rpartition("(")[2].rstrip(")")
            raise SchemaError(f"The schema file is not valid TOML ({place}).") from None
        unknown = set(document) - {"variable", "question"}
        if unknown:
            raise SchemaError(f"The schema file has the unknown table {sorted(unknown)[0]}.")
        entries = document.get("variable")
        if not isinstance(entries, list) or not entries:
            raise SchemaError("The schema file has no [[variable]] table; add one a column.")
        question = document.get("question")
        return cls(
            variables=tuple(_variable_from(entry) for entry in entries),
            question=None if question is None else _question_from(question),
        )

    def to_toml(self) -> str:
        """Write the TOML form that `from_toml` reads."""
        blocks = [_variable_to_toml(variable) for variable in self.variables]
        if self.question is not None:
            blocks.append(
                "[question]\n"
                f"response = {_toml(self.question.response)}\n"
                f"predictors = {_toml(list(self.question.predictors))}\n"
            )
        return "\n".join(blocks)


_FIELDS = ("name", "kind", "role", "weight", "group", "masked", "levels")


def _variable_from(entry: Any) -> Variable:
    if not (isinstance(entry, dict) and isinstance(entry.get("name"), str) and "kind" in entry):
        raise SchemaError("Every [[variable]] of the schema file needs a name and a kind.")
    unknown = set(entry) - set(_FIELDS)
    if unknown:
        raise SchemaError(
            f"Variable {entry['name']} of the schema file has the unknown field "
            f"{sorted(unknown)[0]}; known are {', '.join(_FIELDS)}."
        )
    values = dict(entry)
    if isinstance(values.get("levels"), list):
        values["levels"] = tuple(str(level) for level in values["levels"])
    return Variable(**values)


def _question_from(table: Any) -> Question:
    fine = (
        isinstance(table, dict)
        and set(table) == {"response", "predictors"}
        and isinstance(table["predictors"], list)
        and all(isinstance(name, str) for name in [table["response"], *table["predictors"]])
    )
    if not fine:
        raise SchemaError(
            "The [question] of the schema file must have a response and a list of predictors."
        )
    return Question(response=table["response"], predictors=tuple(table["predictors"]))


def _variable_to_toml(variable: Variable) -> str:
    fields: dict[str, Any] = {
        "name": variable.name,
        "kind": str(variable.kind),
        "role": str(variable.role),
    }
    if variable.weight != 1.0:
        fields["weight"] = variable.weight
    if variable.group is not None:
        fields["group"] = variable.group
    if not variable.masked:
        fields["masked"] = False
    if variable.levels is not None:
        fields["levels"] = list(variable.levels)
    lines = [f"{key} = {_toml(value)}" for key, value in fields.items()]
    return "[[variable]]\n" + "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    # JSON strings, numbers, booleans and arrays of strings are TOML too; DEL is the one
    # character that JSON leaves bare and TOML forbids.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
