"""The columns of a table as level numbers and ranks, in which rows are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable

NEARLY_UNIQUE = 0.98  # different texts a row, beyond which a text says nothing of rows together


@dataclass(frozen=True, slots=True)
class Column:
    """One column by the numbers of its levels."""

    name: str
    codes: Integers32  # shape (n,), from 0, in the order of the values; missing is the last level
    values: Any  # an index of the different values, in the same order, without missing
    counts: Integers  # shape (levels,): rows of each level, missing among them
    ranks: Floats  # shape (levels,): the middle rank of each level; missing has none
    ordered: bool  # whether the order of the levels has a sense
    released: bool

    @classmethod
    def of(cls, variable: Variable, codes: Integers32, values: pd.Index) -> Column:
        """Count the levels of a column, and rank them."""
        counts = np.bincount(codes)
        ranks = np.cumsum(counts) - (counts - 1) / 2
        ranks[len(values) :] = np.nan
        return cls(
            name=variable.name,
            codes=codes,
            values=values,
            counts=counts,
            ranks=np.asarray(ranks, dtype=np.float64),
            ordered=variable.kind is not Kind.CATEGORICAL,
            released=variable.is_released,
        )

    @property
    def levels(self) -> int:
        """Return the number of levels, missing among them."""
        return len(self.counts)

    @property
    def known(self) -> int:
        """Return the number of rows with a value."""
        return int(self.counts[: len(self.values)].sum())

    @property
    def tie(self) -> float:
        """Return the chance that two rows are equal."""
        return float(((self.counts / len(self.codes)) ** 2).sum())

    def whole_numbers(self) -> Floats | None:
        """Return the different values where they are whole numbers or days, (levels,)."""
        if pd.api.types.is_datetime64_any_dtype(self.values.dtype):
            moments = pd.to_datetime(self.values, utc=True).astype("datetime64[us, UTC]")
            return np.asarray(moments.astype("int64"), dtype=np.float64)
        if not pd.api.types.is_numeric_dtype(self.values.dtype):
            return None
        numbers = np.asarray(self.values, dtype=np.float64)
        finite = bool(np.isfinite(numbers).all())
        return numbers if finite and (numbers % 1 == 0).all() else None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that may say something of rows together, and some of its rows."""

    columns: tuple[Column, ...]
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(column.name for column in self.columns)

    def some(self, most: int) -> Columns:
        """Return all columns, or so many that lie evenly among those of a wide table."""
        if len(self.columns) <= most:
            return self
        places = np.linspace(0, len(self.columns) - 1, most).astype(np.int64)
        return replace(self, columns=tuple(self.columns[place] for place in places.tolist()))

    @property
    def levels(self) -> Integers:
        """Return the number of levels of each column, shape (p,)."""
        return np.array([column.levels for column in self.columns], dtype=np.int64)

    @property
    def ordered(self) -> Booleans:
        """Return whether the levels of each column have an order, shape (p,)."""
        return np.array([column.ordered for column in self.columns], dtype=bool)

    @property
    def released(self) -> Booleans:
        """Return whether a release holds each column, shape (p,)."""
        return np.array([column.released for column in self.columns], dtype=bool)

    @property
    def ties(self) -> Floats:
        """Return for each column the chance that two rows are equal, shape (p,)."""
        return np.array([column.tie for column in self.columns])

    def codes_at(self, rows: Integers) -> Integers32:
        """Return the level numbers of some rows, shape (r, p)."""
        return np.column_stack([column.codes[rows] for column in self.columns])

    def scores_at(self, rows: Integers) -> Floats:
        """Return the standardized ranks of some rows, shape (r, p); 0 where missing."""
        scores = [column.ranks[column.codes[rows]] for column in self.columns]
        return standardized(np.column_stack(scores))


def standardized(scores: Floats) -> Floats:
    """Return columns of mean 0 and variance 1, shape (r, p); 0 where missing or constant."""
    known = ~np.isnan(scores)
    filled = np.where(known, scores, 0.0)
    number = np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, filled - filled.sum(axis=0) / number, 0.0)
    spread = np.sqrt((centered**2).sum(axis=0) / number)
    return np.asarray(centered / np.where(spread > 0, spread, 1.0))


def columns_of(microdata: Microdata) -> Columns:
    """Return the columns of a table, those that stay inside among them."""
    made = (_column(microdata, variable) for variable in microdata.schema.variables)
    columns = tuple(column for column in made if column is not None)
    return Columns(columns=columns, rows=microdata.n)


def _column(microdata: Microdata, variable: Variable) -> Column | None:
    """Return a column; None of one that is constant, or a text of its own in each row."""
    name = variable.name
    if variable.kind is Kind.ORDERED:
        own, different = microdata.codes(name)
        numbers: Any = own
        values: Any = pd.Index(different)
    else:
        series = microdata.frame[name]
        category = isinstance(series.dtype, pd.CategoricalDtype)
        plain = series.astype(series.cat.categories.dtype) if category else series
        numbers, values = pd.factorize(plain)
        nominal = variable.kind is Kind.CATEGORICAL
        if nominal and len(values) > NEARLY_UNIQUE * microdata.n:
            return None
        order = np.argsort(values.astype(str) if nominal else values, kind="stable")
        place = np.empty(len(order) + 1, dtype=np.int32)
        place[order] = np.arange(len(order))
        place[-1] = -1
        numbers = place[numbers]
        values = values[order]
    missing = numbers < 0
    if len(values) + int(missing.any()) < 2:
        return None
    codes = np.where(missing, len(values), numbers).astype(np.int32)
    return Column.of(variable, codes, values)
