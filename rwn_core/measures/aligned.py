"""Tables of a comparison in the original's terms: its kinds, levels and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NUMBERS, Kind
from rwn_core.errors import NotApplicable

RELEASED = " in the released table"  # ends a reason that concerns the release


def numbers(original: Microdata, table: Microdata, name: str) -> Floats:
    """Return a variable of either table as numbers, shape (n,), NaN where missing."""
    # an ordered variable counts the original's levels from 0, a date days since 1970
    kind = original.schema.by_name[name].kind
    own = kind if table.schema is original.schema else table.schema.variable(name).kind
    if kind is Kind.ORDERED:
        known, _ = table.codes(name, original.codes(name)[1])
        return np.where(known < 0, np.nan, known.astype(np.float64))
    if own is not kind and not (own in NUMBERS and kind in NUMBERS):
        raise NotApplicable(
            f"Variable {name} is {kind} in the original and {own} in the released table; give "
            "both tables the same kind of values."
        )
    return table.values(name)


def columns(original: Microdata, table: Microdata, names: Sequence[str]) -> list[Floats]:
    """Return several variables of either table as `numbers`."""
    plain = table is original or table.schema is original.schema
    if plain and set(names) <= set(original.schema.numeric_names):
        return table.columns(names)
    return [numbers(original, table, name) for name in names]


def matrix(original: Microdata, table: Microdata, names: Sequence[str]) -> Floats:
    """Several variables of either table as numbers, shape (n, len(names))."""
    return np.column_stack(columns(original, table, names)) if names else np.empty((table.n, 0))


def codes(original: Microdata, table: Microdata, name: str) -> tuple[NDArray[np.int32], list[Any]]:
    """Return the level numbers of a variable of either table, -1 where missing, and the levels."""
    levels = original.codes(name)[1]
    code, _ = table.codes(name, levels)
    unknown = code < 0
    if not unknown.any() or bool(table.frame[name].isna().to_numpy()[unknown].all()):
        return code, levels
    known = set(levels)
    new = [level for level in table.codes(name)[1] if level not in known]
    return table.codes(name, [*levels, *new])


def complete(values: Floats) -> Integers:
    """Return the numbers of the records without a missing value, ascending."""
    return np.flatnonzero(~np.isnan(values).any(axis=1))


def empty_records(table: Microdata, names: Sequence[str] | None = None) -> Booleans:
    """True for records with every value (or all of some variables) missing, shape (n,)."""
    chosen = None if names is None else frozenset(names)

    def find() -> Booleans:
        empty = np.ones(table.n, dtype=bool)
        for variable in table.schema.released:
            if chosen is None or variable.name in chosen:
                empty &= pd.isna(table.array(variable.name))
                if not empty.any():  # nearly always after the first
                    break
        return empty

    return table.cached(("empty records", chosen), find)


def released_rows(original: Microdata, masked: Microdata) -> Integers:
    """Return the rows of the released file, ascending: those that did not lose every value."""
    # all rows if no row has a value left, or if the table is not row-aligned
    lost = empty_records(masked)
    if masked.n == original.n and lost.any():
        lost = lost & ~empty_records(original)
    elif masked.n != original.n:
        lost = np.zeros(masked.n, dtype=bool)
    return np.arange(masked.n) if lost.all() else np.flatnonzero(~lost)


def require_same_records(
    original: Microdata, masked: Microdata, because: str = "the true sources are unknown"
) -> None:
    """Refuse a released table with another number of records than the original."""
    if masked.n != original.n:
        raise NotApplicable(
            f"The released table has another number of records than the original, so {because}."
        )


def require_values(table: Microdata) -> None:
    """Raise NotApplicable if the released table lost every value."""
    if empty_records(table).all():
        raise NotApplicable(f"Every value is missing{RELEASED}.")


def varies(values: Floats) -> Booleans:
    """True for columns of a complete matrix that hold two different values, shape (m,)."""
    if not len(values):
        return np.zeros(values.shape[1], dtype=bool)
    return np.asarray(values.min(axis=0) < values.max(axis=0), dtype=bool)


def standardized(values: Floats) -> Floats:
    """Return complete, varying columns less their mean, divided by their standard deviation."""
    centered = values - values.mean(axis=0)
    # the largest deviation first: squares of tiny numbers would vanish
    centered /= np.maximum(centered.max(axis=0), -centered.min(axis=0))
    squares = np.einsum("ij,ij->j", centered, centered)
    centered /= np.sqrt(squares / (len(values) - 1))
    return np.asarray(centered, dtype=np.float64)
