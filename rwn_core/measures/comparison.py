"""An original and one masked table, as every measure sees them, in the original's terms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.units import Unit, people_in, unit_of
from rwn_core.data.validation import stands_for_people
from rwn_core.data.variable import LEVELS, NUMBERS, Kind, Role
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.law import Law

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The sampling of a file from its population; without both, the file is the population.

    Attributes
    ----------
    population : float, optional
        How many people the file is a sample of, each equally likely to be in it.
    weights : str, optional
        The variable that holds for each record how many people it stands for.
    """

    population: float | None = None
    weights: str | None = None

    @classmethod
    def of_schema(cls, original: Microdata) -> Sampling:
        """Return the sampling of a table's schema: its sampling weight, or its population."""
        weights = original.schema.name_with_role(Role.SAMPLING_WEIGHT)
        if weights is not None and usable_weights(original, weights):
            return cls(weights=weights)
        people = original.schema.population
        return cls(population=None if people is None else float(max(people, people_in(original))))

    def check(self, original: Microdata) -> None:
        """Raise ParameterError if the sampling does not fit the table."""
        least = people_in(original)
        if self.population is not None and not self.population >= least:
            raise ParameterError(f"The population must be at least the file's {least:,} people.")
        if self.weights is None:
            return
        if self.population is not None:
            raise ParameterError("Give the population or the sampling weights, not both.")
        if self.weights not in original.names:
            raise ParameterError("The sampling weights must be a variable of the table.")
        if not usable_weights(original, self.weights):
            raise ParameterError(
                f"The sampling weights {self.weights} must be finite numbers of at least 1 without "
                "missing values; choose another variable."
            )

    def record_weights(self, original: Microdata, table: Microdata) -> Floats:
        """Return the number of people that each record of either table stands for, shape (n,)."""
        # a lost weight is replaced by the mean of the released ones, as an intruder would
        if self.weights is None:
            each = 1.0 if self.population is None else self.population / people_in(original)
            return np.full(table.n, each)
        own = _numbers(original, self.weights)
        if self.weights not in table.names or table.n != original.n:
            return own if table.n == original.n else np.full(table.n, own.mean())
        released = _numbers(table, self.weights)
        known = ~np.isnan(released)
        return np.where(known, released, released[known].mean() if known.any() else own.mean())


def usable_weights(table: Microdata, name: str) -> bool:
    """True if a variable can be sampling weights: numbers of at least 1, none missing."""
    return stands_for_people(table.frame[name], table.schema.variable(name))


def _numbers(table: Microdata, name: str) -> Floats:
    # Shapes: the answer (n,), of the records of the table.
    # of an identifier too: weights need not be released
    return table.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)


class Memo(dict[Hashable, Any]):
    """A stored result, or the reason why there is none, with the rows that were used."""

    def __call__(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Compute it, the first time only."""
        found = self.get(key)
        if found is None:
            rows: list[Rows] = []
            token = ROWS.set(rows)
            try:
                made = make()
                reason = None
            except NotApplicable as refusal:
                # the sentence only: a kept exception would keep every caller's tables alive
                made = cast("_T", None)
                reason = refusal.reason
            finally:
                ROWS.reset(token)
            noted = tuple(dict.fromkeys(rows))
            more = (noted, reason) if noted or reason is not None else None
            found = self[key] = made, more
        known, more = found
        if more is not None:
            noted, reason = more
            outer = ROWS.get()
            if outer is not None:
                outer.extend(noted)
            if reason is not None:
                raise NotApplicable(reason)
        return cast("_T", known)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Comparison:
    """An original and a masked table side by side.

    Parameters
    ----------
    original : Microdata
    masked : Microdata
        Row-aligned with the original, by this program or any other.
    law : Law, optional
        What the method may do to each cell, where it is known.
    holdout : Microdata, optional
        Records of the same population that were never masked.
    question : Question, optional
        The regression to keep; the schema's by default.
    sampling : Sampling, optional
        How the original was drawn from its population; by default as its sampling weight says,
        and itself the population without one.

    Attributes
    ----------
    key_sets : tuple of tuple of str
        Sets of variables that an intruder may know, in addition to the key variables; none by
        default (`with_key_sets`).
    cached_for_original, cached_for_release : Memo
        What depends on the original alone, once for all masked tables; and on the masked table
        too, once for all measures. Both are called with a key and a function that computes.
    halves : tuple of tuple of str
        The two sets of variables of which linkability asks whether they meet in one row; none by
        default, when variables are taken in turn (`with_halves`).

    Raises
    ------
    ParameterError
        The sampling does not fit the original.
    """

    original: Microdata
    masked: Microdata
    law: Law | None = None
    holdout: Microdata | None = None
    question: Question | None = None
    sampling: Sampling = None  # type: ignore[assignment]  # the schema's, below
    key_sets: tuple[tuple[str, ...], ...] = field(default=(), init=False)
    halves: tuple[tuple[str, ...], ...] = field(default=(), init=False)
    # the larger file that the records were taken from, and their numbers there, shape (n,)
    file: Microdata | None = field(default=None, init=False)
    records: Integers | None = field(default=None, init=False)
    cached_for_original: Memo = field(default_factory=Memo, init=False)
    cached_for_release: Memo = field(default_factory=Memo, init=False)

    def __post_init__(self) -> None:
        """Take question and sampling from the schema where they are not given."""
        self.question = self.original.schema.question if self.question is None else self.question
        self.sampling = self.sampling or Sampling.of_schema(self.original)
        self.sampling.check(self.original)

    @classmethod
    def of_some(cls, file: Microdata, records: Integers) -> Comparison:
        """Compare some records (ascending numbers) of a larger file with themselves."""
        original = file.take(records)
        made = cls(original=original, masked=original)
        made.file, made.records = file, records
        return made

    @property
    def tables(self) -> tuple[Microdata, Microdata]:
        """Return both tables, the original first."""
        return self.original, self.masked

    def cache_of(self, table: Microdata) -> Memo:
        """Return the cache of what depends on one of both tables."""
        return self.cached_for_original if table is self.original else self.cached_for_release

    @property
    def every(self) -> Microdata:
        """Return the full file that the original's records come from."""
        return self.original if self.file is None else self.file

    @property
    def unit(self) -> Unit | None:
        """Return the unit that risk is counted in; see `unit_of`."""
        return self.cached_for_original("unit", lambda: unit_of(self.every))

    @property
    def units(self) -> Integers | None:
        """Return the number of each record's unit, shape (n,); None where a row is a unit."""
        unit = self.unit
        numbers = None if unit is None else unit.numbers
        return numbers if numbers is None or self.records is None else numbers[self.records]

    @property
    def random_share(self) -> float:
        """Share of the rows that are linked correctly by naming random units."""
        return 1.0 / (self.every.n if self.unit is None else self.unit.size)

    def with_masked(self, masked: Microdata, law: Law | None = None) -> Comparison:
        """Return the same original with another masked table; they share its cache."""
        other = copy(self)
        other.masked = masked
        other.law = law
        other.cached_for_release = Memo()
        return other

    def with_original(self, original: Microdata) -> Comparison:
        """Return the comparison of another description of the original, with a separate cache."""
        other = self.with_masked(original)
        other.original = original
        other.cached_for_original = Memo()
        return other

    def required_law(self, what: str = "This") -> Law:
        """Return the law; NotApplicable if it is unknown, since `what` needs it."""
        if self.law is None:
            raise NotApplicable(f"{what} needs the law of the method that made the release.")
        return self.law

    def with_key_sets(self, key_sets: Sequence[Sequence[str]]) -> Comparison:
        """Return the comparison for an intruder who may know further sets of variables."""
        released = [variable.name for variable in self.original.schema.released]
        if not all(names and set(names) <= set(released) for names in key_sets):
            raise ParameterError(
                "A set of variables that somebody may know must name released variables only; "
                f"those are: {', '.join(released)}."
            )
        other = self.with_masked(self.masked, self.law)
        other.key_sets = tuple(tuple(names) for names in key_sets)
        return other

    def with_halves(self, halves: Sequence[Sequence[str]]) -> Comparison:
        """Return the comparison for two intruders, or files, with these variables each."""
        # the other half of a single one is all other variables
        released = [variable.name for variable in self.original.schema.released]
        sets = [tuple(names) for names in halves]
        if len(sets) == 1:
            sets.append(tuple(name for name in released if name not in sets[0]))
        named = list(chain.from_iterable(sets))
        fine = len(sets) in (0, 2) and all(sets) and len(named) == len(set(named))
        if not fine or not set(named) <= set(released):
            raise ParameterError(
                "halves must be one or two sets of released variables, and no variable may be in "
                f"both; those are: {', '.join(released)}."
            )
        other = self.with_masked(self.masked, self.law)
        other.halves = tuple(sets)
        return other


Rows = tuple[int, int]
"""Number of rows that were used, and of all of them."""
ROWS: ContextVar[list[Rows] | None] = ContextVar("rows", default=None)
"""List to which each choice of complete records that leaves some out adds its numbers of rows."""


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
    # Shapes: each of the answer (n,), of the records of the table.
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


def values_of(original: Microdata, table: Microdata, name: str) -> Floats:
    """Return a variable of either table as numbers or level numbers, shape (n,), NaN if missing."""
    if original.schema.by_name[name].kind in LEVELS:
        code = codes(original, table, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64))
    return numbers(original, table, name)


def complete(values: Floats) -> Integers:
    """Return the numbers of the records without a missing value, ascending."""
    # Shapes: values (n, p); the answer (c,), of the complete records.
    found = np.flatnonzero(~np.isnan(values).any(axis=1))
    noted = ROWS.get()
    if noted is not None and len(found) < len(values):
        noted.append((len(found), len(values)))
    return found


def empty_records(table: Microdata, names: Sequence[str] | None = None) -> Booleans:
    """The marks of records with every value (or all of some variables) missing, shape (n,)."""
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
    if masked.n != original.n or not lost.any():
        return np.arange(masked.n)
    lost = lost & ~empty_records(original)
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
    """The marks of columns of a complete matrix that hold two different values, shape (m,)."""
    if not len(values):
        return np.zeros(values.shape[1], dtype=bool)
    return np.asarray(values.min(axis=0) < values.max(axis=0), dtype=bool)


def standardized(values: Floats) -> Floats:
    """Return complete, varying columns less their mean, divided by their standard deviation."""
    # Shapes: values, the answer (n, p).
    centered = values - values.mean(axis=0)
    # the largest deviation first: squares of tiny numbers would vanish
    centered /= np.maximum(centered.max(axis=0), -centered.min(axis=0))
    centered /= np.sqrt(np.einsum("ij,ij->j", centered, centered) / (len(values) - 1))
    return np.asarray(centered, dtype=np.float64)
