"""A schema as TOML: a table for each variable, and one for the question."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from typing import Any

from rwn_core.data.question import Question
from rwn_core.data.variable import Variable
from rwn_core.errors import SchemaError

_FIELDS = ("name", "kind", "role", "weight", "group", "masked", "levels")


def parse_toml(text: str) -> tuple[tuple[Variable, ...], Question | None]:
    """The variables and the question of a TOML text.

    Raises
    ------
    SchemaError
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise SchemaError(f"The schema file is not valid TOML ({where}).") from None
    unknown = set(document) - {"variable", "question"}
    if unknown:
        raise SchemaError(f"The schema file has the unknown table {sorted(unknown)[0]}.")
    entries = document.get("variable")
    if not isinstance(entries, list) or not entries:
        raise SchemaError("The schema file has no [[variable]] table; add one a column.")
    question = document.get("question")
    variables = tuple(_variable_from(entry) for entry in entries)
    return variables, None if question is None else _question_from(question)


def toml_text(variables: Sequence[Variable], question: Question | None) -> str:
    """The TOML text that `parse_toml` reads."""
    blocks = [_variable_to_toml(variable) for variable in variables]
    if question is not None:
        blocks.append(
            "[question]\n"
            f"response = {_toml(question.response)}\n"
            f"predictors = {_toml(list(question.predictors))}\n"
        )
    return "\n".join(blocks)


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
