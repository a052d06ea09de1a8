"""Columns of a dataset: from its schema file, or edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.data.identity.words import names_people
from rwn_ui.background.dataset_job import OpenDataset
from rwn_ui.data.variables import ROLES
from rwn_ui.server.messages import escaped
from rwn_ui.widgets.upload import file_chooser, parsed


def take_file(opened: OpenDataset) -> None:
    """Take a schema file, once it is chosen."""
    upload = file_chooser(
        "The dataset's schema, if you have one (TOML)",
        ["toml"],
        key="data.dataset.schema",
        help="What rwn mask-dataset --schema takes: kinds, roles, weights, groups and the "
        "regression to keep.",
    )
    seen = "data.dataset.schema.seen"
    chosen = None if upload is None else (opened.name, upload.file_id)
    if upload is None or chosen == st.session_state.get(seen):
        return
    st.session_state[seen] = chosen
    schema = parsed(upload.getvalue(), rwn.Schema.from_toml, "schema")
    schema.require_names([name for name, _ in opened.dataset.columns])
    opened.schema = schema
    opened.version += 1


def draw(opened: OpenDataset) -> None:
    """Kind, role, weight and group of each column; an edit counts at once."""
    schema = _described(opened.schema, _edited(opened))
    if not any(variable.masked for variable in schema.released):
        raise rwn.ParameterError("No variable is chosen for masking; choose at least one.")
    schema = _with_answers(opened, schema)
    opened.schema = schema
    named = [v.name for v in schema.released if names_people(v.name) and not v.is_answered]
    if named:
        st.warning(
            escaped(
                f"Named like direct identifiers: {', '.join(named)}. If they name people, set "
                "their role to identifier before anything is read."
            )
        )
    question = schema.question
    if question is not None:
        names = ", ".join(question.predictors)
        st.caption(
            escaped(f"The regression to keep, from the schema: {question.response} from {names}.")
        )


def _with_answers(opened: OpenDataset, schema: rwn.Schema) -> rwn.Schema:
    """Ask which variables identify no person although they look so; masking refuses open doubts."""
    asked = [v.name for v in schema.released if v.role is rwn.Role.OTHER]
    given = [v.name for v in schema.released if v.confirmed and v.name in asked]
    chosen = st.multiselect(
        "Variables that identify nobody, although they look so",
        asked,
        given,
        key=opened.key("identify nobody"),
        help="Masking refuses a variable that looks like a name, a number, a date of birth, a "
        "place or free text, until it is named here or has another role.",
    )
    variables = tuple(replace(v, confirmed=v.name in chosen) for v in schema.variables)
    return replace(schema, variables=variables)


def _edited(opened: OpenDataset) -> pd.DataFrame:
    """The editor, and what it says."""
    key, start = opened.key("columns"), opened.key("columns.start")
    if key not in st.session_state:  # drawn for the first time, or anew after another page
        rows = [_row(variable) for variable in opened.schema.variables]
        st.session_state[start] = pd.DataFrame(rows)
    edited: pd.DataFrame = st.data_editor(
        st.session_state[start],
        hide_index=True,
        width="stretch",
        key=key,
        disabled=["variable"],
        column_config={
            "kind": st.column_config.SelectboxColumn(options=list(rwn.Kind), required=True),
            "role": st.column_config.SelectboxColumn(
                options=list(ROLES),
                required=True,
                help="A direct identifier is neither masked nor released; it is read only to "
                "check that no public file names it.",
            ),
            "weight": st.column_config.NumberColumn(
                min_value=0.0, required=True, help="In the distance; 0 leaves the variable out."
            ),
            "masked": st.column_config.CheckboxColumn(
                help="An unmasked variable keeps its values in the release."
            ),
            "group": st.column_config.TextColumn(
                help="Variables with the same group word take their values from one common donor."
            ),
        },
    )
    return edited


def _row(variable: rwn.Variable) -> dict[str, Any]:
    return {
        "variable": variable.name,
        "kind": str(variable.kind),
        "role": str(variable.role),
        "weight": variable.weight,
        "masked": variable.masked,
        "group": variable.group or "",
    }


def _described(schema: rwn.Schema, edited: pd.DataFrame) -> rwn.Schema:
    """The schema as the editor says."""
    rows: list[Mapping[str, Any]] = edited.to_dict("records")  # type: ignore[assignment]
    pairs = zip(schema.variables, rows, strict=True)
    return replace(schema, variables=tuple(_variable(old, row) for old, row in pairs))


def _variable(old: rwn.Variable, row: Mapping[str, Any]) -> rwn.Variable:
    kind = rwn.Kind(row["kind"])
    return replace(
        old,
        kind=kind,
        role=row["role"],
        weight=1.0 if pd.isna(row["weight"]) else float(row["weight"]),
        masked=bool(row["masked"]),
        # an emptied cell comes back as a missing value
        group=None if pd.isna(row["group"]) else str(row["group"]).strip() or None,
        levels=old.levels if kind is rwn.Kind.ORDERED else None,
    )
