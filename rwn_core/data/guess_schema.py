"""A schema for a table that came without one: kinds guessed from the columns' types."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable


def guess_schema(frame: pd.DataFrame) -> Schema:
    """One variable for each column, its kind guessed from the column's type."""
    return Schema(
        variables=tuple(
            Variable(name=str(name), kind=_guess_kind(frame[name])) for name in frame.columns
        )
    )


def _guess_kind(column: pd.Series[Any]) -> Kind:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Kind.ORDERED if dtype.ordered else Kind.CATEGORICAL
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Kind.DATE
    if pd.api.types.is_bool_dtype(dtype):
        return Kind.CATEGORICAL
    if pd.api.types.is_integer_dtype(dtype):
        return Kind.COUNT
    if pd.api.types.is_float_dtype(dtype):
        return Kind.CONTINUOUS
    return Kind.CATEGORICAL
