"""A schema as TOML: a table for each variable, and one for the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.data.edit_rules import EditRule, as_edit_rules
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.question import Question
from rwn_core.data.toml import toml_document, toml_text
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import SchemaError

_FIELDS = (
    *("name", "kind", "role", "weight", "group", "masked", "levels"),
    *("label", "value_labels", "missing_codes", "decimals", "notation"),
)


Parts = tuple[tuple[Variable, ...], Question | None, FileLayout | None, tuple[EditRule, ...]]
"""The variables, the question, the layout of the file and the edit rules."""


def parse_toml(text: str) -> Parts:
    """Return the parts of a schema in a TOML text."""
    return schema_parts(toml_document(text, "schema file", SchemaError))


def schema_parts(document: Mapping[str, Any]) -> Parts:
    """Return the parts of a schema; one with a [file] table alone has no variables."""
    unknown = set(document) - {"variable", "question", "file", "edit_rules"}
    if unknown:
        raise SchemaError(f"The schema file has the unknown table {sorted(unknown)[0]}.")
    entries = [] if set(document) == {"file"} else document.get("variable")
    if not isinstance(entries, list) or not (entries or set(document) == {"file"}):
        raise SchemaError("The schema file has no [[variable]] table; add one a column.")
    question = document.get("question")
    variables = tuple(_variable_from(entry) for entry in entries)
    file = document.get("file")
    return (
        variables,
        None if question is None else _question_from(question),
        None if file is None else FileLayout.of(file),
        as_edit_rules(document.get("edit_rules", ())),
    )


def schema_text(
    variables: Sequence[Variable],
    question: Question | None,
    file: FileLayout | None = None,
    edit_rules: Sequence[EditRule] = (),
) -> str:
    """Return the TOML text that `parse_toml` reads."""
    return toml_text(schema_document(variables, question, file, edit_rules))


def schema_document(
    variables: Sequence[Variable],
    question: Question | None,
    file: FileLayout | None = None,
    edit_rules: Sequence[EditRule] = (),
) -> dict[str, Any]:
    """Return the plain data that `schema_parts` reads."""
    document: dict[str, Any] = {}
    if variables:
        document["variable"] = [_fields_of(variable) for variable in variables]
    if edit_rules:
        document["edit_rules"] = [rule.text for rule in edit_rules]
    if question is not None:
        document["question"] = {
            "response": question.response,
            "predictors": list(question.predictors),
        }
    if file is not None and file.changed():
        document["file"] = file.changed()
    return document


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
    # a person wrote the role: nothing asks whether the variable identifies people
    return Variable(**values, confirmed=values.get("role") == Role.OTHER)


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


def _fields_of(variable: Variable) -> dict[str, Any]:
    """The fields of a variable that are not the usual ones."""
    fields: dict[str, Any] = {"name": variable.name, "kind": str(variable.kind)}
    if variable.is_answered:  # a role in a file is an answer
        fields["role"] = str(variable.role)
    if variable.weight != 1.0:
        fields["weight"] = variable.weight
    if variable.group is not None:
        fields["group"] = variable.group
    if not variable.masked:
        fields["masked"] = False
    if variable.levels is not None:
        fields["levels"] = list(variable.levels)
    return fields | _codebook_of(variable)


def _codebook_of(variable: Variable) -> dict[str, Any]:
    """What the file of a variable says of it, as far as it says anything."""
    fields = {
        "label": variable.label,
        "decimals": variable.decimals,
        "notation": variable.notation,
        "value_labels": [list(pair) for pair in variable.value_labels] or None,
        "missing_codes": list(variable.missing_codes) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
