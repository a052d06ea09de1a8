"""A schema for a table that came without one: kinds guessed from the columns' types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from rwn_core.data.fingerprint import factorized
from rwn_core.data.schema import Schema
from rwn_core.data.validation import level_text
from rwn_core.data.variable import Kind, Variable


def guess_schema(frame: pd.DataFrame) -> Schema:
    """One variable for each column, its kind guessed from the column's type."""
    kinds = pd.api.types
    by_type = (
        (kinds.is_datetime64_any_dtype, Kind.DATE),
        (kinds.is_bool_dtype, Kind.CATEGORICAL),
        (kinds.is_integer_dtype, Kind.COUNT),
        (kinds.is_float_dtype, Kind.CONTINUOUS),
    )
    variables = []
    for name in frame.columns:
        dtype: Any = frame[name].dtype
        kind = next((kind for test, kind in by_type if test(dtype)), Kind.CATEGORICAL)
        if isinstance(dtype, pd.CategoricalDtype):
            kind = Kind.ORDERED if dtype.ordered else Kind.CATEGORICAL
        variables.append(Variable(name=str(name), kind=kind))
    return Schema(variables=tuple(variables))


def completed(schema: Schema, frame: pd.DataFrame) -> Schema:
    """The schema in the order of the columns, with guesses for those that it does not name."""
    names = [str(name) for name in frame.columns]
    if schema.names == tuple(names):
        return schema
    schema.require_columns(names)
    guessed = guess_schema(frame[[name for name in names if name not in schema.by_name]])
    known = {**schema.by_name, **guessed.by_name}
    return replace(schema, variables=tuple(known[name] for name in names))


def with_levels(frame: pd.DataFrame, schema: Schema) -> Schema:
    """The schema with the order of every ordered variable written down."""
    # A release may lose a level; the numbers of the others must not move.
    for variable in schema.variables:
        if variable.kind is Kind.ORDERED and variable.levels is None:
            column = frame[variable.name]
            if isinstance(column.dtype, pd.CategoricalDtype):
                known = column.cat.remove_unused_categories().cat.categories.tolist()
            else:
                known = sorted(factorized(column)[1])
            levels = tuple(level_text(value) for value in known)
            schema = schema.replace_variable(variable.name, levels=levels)
    return schema
