"""Columns of a dataset, the setting of the method RWN for it, and its donors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.data.identity.words import names_people
from rwn_core.masking import RWN, Option
from rwn_core.neighbors.candidates import TITLES, usual_sizes
from rwn_ui.background.dataset_job import FIRST, OpenDataset
from rwn_ui.data.variables import described_row, edited_variable, editor_columns
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.widgets.folded import folded
from rwn_ui.widgets.options import field, names_for, options_of_kernel
from rwn_ui.widgets.upload import file_chooser, parsed

_IN_MEMORY = ("fresh", "outside_household", "radius_variable")  # no dataset is masked so


def draw(opened: OpenDataset) -> None:
    """The fields of the setting."""
    kernel = st.session_state.get(opened.key("option.kernel"), opened.params.kernel)
    columns = st.columns(3)
    given = _reach(opened, columns) if kernel == "even" else _weights(opened, columns)
    given["q"] = _number(
        opened, columns[2], "q", "Modification probability q", max_value=1.0, step=0.05
    )
    if kernel == "even":
        given |= _givers(opened)
    opened.params = RWN(**given, **_others(opened, kernel))


def _number(opened: OpenDataset, column: Any, name: str, label: str, **more: Any) -> float:
    """Draw the field of a parameter that is a fraction, at least 0."""
    start = float(getattr(opened.params, name) or more.pop("usual", 0.0))
    value: float = column.number_input(
        label, 0.0, value=start, format="%g", key=opened.key(name), **{"step": 0.1, **more}
    )
    return value


def _weights(opened: OpenDataset, columns: Sequence[Any]) -> dict[str, Any]:
    """Draw the fields of a soft kernel's width and balance."""
    wide = "How far records give values, in units of the bandwidth."
    even = "1: all records are equally likely to give. It needs the lists of all in memory."
    return {
        "width": _number(
            opened, columns[0], "width", "Width of the kernel h", help=wide, usual=1.0
        ),
        "balance": _number(
            opened, columns[1], "balance", "Balance", max_value=1.0, step=0.05, help=even
        ),
    }


def _reach(opened: OpenDataset, columns: Sequence[Any]) -> dict[str, Any]:
    """Draw the fields of the even kernel's reach."""
    old = opened.params
    before = (old if old.kernel == "even" else FIRST).k or 0
    k = columns[0].number_input(
        "k", 0, 10_000, before, key=opened.key("k"), help="0 is none: the radius alone."
    )
    label = "Radius epsilon, in standard deviations"
    not_privacy = "Not the epsilon of differential privacy. 0 is none: the k nearest alone."
    epsilon = _number(opened, columns[1], "epsilon", label, help=not_privacy)
    return {"k": int(k) or None, "epsilon": epsilon or None}


def _givers(opened: OpenDataset) -> dict[str, Any]:
    """Choose the possible donors, and their number."""
    left, *others = st.columns([2, 1, 1])
    known, old = list(TITLES), opened.params
    neighbors = left.selectbox(
        "Who can give values",
        known,
        known.index(old.neighbors),
        format_func=TITLES.__getitem__,
        key=opened.key("neighbors"),
        help="Random candidates take less time where a search of everybody takes long. Donors are "
        "then farther away, and each gives values more often. What it takes, below, compares them.",
    )
    sizes: dict[str, Any] = {}
    start = usual_sizes(neighbors, opened.dataset.n)
    for (name, usual), column in zip(start.items(), others, strict=False):
        before = getattr(old, name) if old.neighbors == neighbors else usual
        number = column.number_input(
            name.upper(),
            0,
            opened.dataset.n,
            min(before or 0, opened.dataset.n),
            key=opened.key(f"{neighbors}.{name}"),
            help="0 is none: everybody of the part." if usual is None else None,
        )
        sizes[name] = int(number) or None
    return {"neighbors": neighbors, **sizes}


def _others(opened: OpenDataset, kernel: str) -> dict[str, Any]:
    """The options that are left, folded."""
    drawn = {"neighbors", "m", "u", *_IN_MEMORY}
    offered = [each for each in options_of_kernel(RWN, kernel) if each.name not in drawn]
    box = folded("More options", opened.key("options"))
    if box is None:
        return {option.name: getattr(opened.params, option.name) for option in offered}
    with box:
        return {option.name: _value(opened, option) for option in offered}


def _value(opened: OpenDataset, option: Option) -> Any:
    key = opened.key(f"option.{option.name}")
    st.session_state.setdefault(key, getattr(opened.params, option.name))
    return field(option, names_for(option, opened.schema), key=key)


def take_over(opened: OpenDataset, session: Session) -> None:
    """Take the setting of a table, and what it says of the released variables."""
    # Levels of ordered variables stay as they are: a sample may lack one.
    from rwn_core.datasets.prepare_run import checked_setting  # it brings the compiler

    params = checked_setting(session.masking, opened.dataset.n)
    described = opened.schema
    for each in session.data.schema.released:
        said = ("kind", "role", "weight", "masked", "group")
        described = described.replace_variable(
            each.name, **{name: getattr(each, name) for name in said}
        )
    opened.schema, opened.params = described, params
    opened.version += 1


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


def draw_columns(opened: OpenDataset) -> None:
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
        rows = [
            described_row(variable) | {"weight": variable.weight}
            for variable in opened.schema.variables
        ]
        st.session_state[start] = pd.DataFrame(rows)
    edited: pd.DataFrame = st.data_editor(
        st.session_state[start],
        hide_index=True,
        width="stretch",
        key=key,
        disabled=["variable"],
        column_config={
            **editor_columns(
                "A direct identifier is neither masked nor released; it is read only to check that "
                "no public file names it."
            ),
            "weight": st.column_config.NumberColumn(
                min_value=0.0, required=True, help="In the distance; 0 leaves the variable out."
            ),
        },
    )
    return edited


def _described(schema: rwn.Schema, edited: pd.DataFrame) -> rwn.Schema:
    """The schema as the editor says."""
    rows: list[Mapping[str, Any]] = edited.to_dict("records")  # type: ignore[assignment]
    variables = [
        replace(
            edited_variable(old, row),
            weight=1.0 if pd.isna(row["weight"]) else float(row["weight"]),
        )
        for old, row in zip(schema.variables, rows, strict=True)
    ]
    return replace(schema, variables=tuple(variables))
