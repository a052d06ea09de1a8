"""Files of the red team: numeric columns of people and released rows, in random order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, empty_records, numbers
from rwn_core.measures.statistics.key_variables import confidential_names, key_names

Names = tuple[str, ...]

FEW_VALUES = 12  # of a number: up to so many different ones are levels, such as 0 and 1
_SHUFFLES = (20_260, 20_261)  # of people and of rows: one order would give away the sources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Files:
    """Files of simple attacks; a category is the number of its level, NaN is missing."""

    names: Names  # the p released variables
    # people, truth: shape (n, p): people with a released row: values rounded as in the release, and
    # exact
    people: Floats
    truth: Floats
    rows: Floats  # shape (n, p): released rows in another random order
    owner: Integers  # shape (n,): person of each row; only to count correct answers
    # shape (n,): number of the person or household of each record of `people`
    unit: Integers
    levels: Mapping[str, Sequence[Any]]  # levels of each category, by their numbers
    keys: Names
    secrets: Names
    # slices, stated: variables that share a donor, which is public; sets that the steward states
    slices: tuple[Names, ...] = ()
    stated: tuple[Names, ...] = ()
    outside: Floats | None = None  # shape (m, p): people of the population outside the file
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of released rows, and of the people they belong to."""
        return len(self.rows)

    @property
    def random_share(self) -> float:
        """Share of the rows that are linked correctly by naming random people."""
        return 1.0 / (int(self.unit.max()) + 1)

    @property
    def known(self) -> Names:
        """The keys that are not confidential themselves."""
        return tuple(name for name in self.keys if name not in self.secrets)

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the columns of some variables."""
        return [self.names.index(name) for name in names]

    def column(self, table: Floats, name: str) -> Floats:
        """Return one variable of one of the tables."""
        # Shapes: table (n, p); the answer (n,).
        return table[:, self.names.index(name)]

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Compute something once for all attacks."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]


def intruder_files(comparison: Comparison, inside: Integers | None = None) -> Files:
    """Return the files of a comparison; NotApplicable if rows have no people.

    With `inside` (ascending) the masked table is a release of these records of the original only;
    all records are among the people.
    """
    original, masked = comparison.original, comparison.masked
    everyone = np.arange(original.n)
    if masked.n != len(everyone if inside is None else inside):
        raise NotApplicable(
            "The released table has another number of records than the original, so the true "
            "sources are unknown."
        )
    shown = np.flatnonzero(~empty_records(masked))
    if len(shown) < 2:
        raise NotApplicable("Fewer than two released records have a value.")
    precision = {} if comparison.law is None else comparison.law.precision
    names: list[str] = []
    for variable in original.schema.released:
        with suppress(NotApplicable):  # released as another kind of values
            _column(original, masked, variable.name)
            names.append(variable.name)
    secrets = tuple(name for name in confidential_names(comparison) if name in names)
    asked = shown if inside is None else everyone
    truth = _matrix(original, original, names)[asked]
    people = _matrix(original, rounded(original, precision), names)[asked]
    rows = _matrix(original, masked, names)[shown]
    # random orders that depend on the values alone, not on the order of the records
    order, place = (
        np.lexsort(np.nan_to_num(each, nan=np.inf, posinf=np.inf).T)[
            np.random.default_rng(seed).permutation(len(each))
        ]
        for each, seed in zip((truth, rows), _SHUFFLES, strict=True)
    )
    own = np.arange(len(shown)) if inside is None else inside[shown]
    unit = asked if comparison.units is None else comparison.units[asked]
    slices = original.schema.slices if comparison.law is None else comparison.law.units()
    outside = None
    if comparison.holdout is not None:
        with suppress(NotApplicable, KeyError):
            outside = _matrix(original, comparison.holdout, names)
    return Files(
        names=tuple(names),
        people=people[order],
        truth=truth[order],
        rows=rows[place],
        owner=np.argsort(order)[own][place],
        unit=np.unique(unit, return_inverse=True)[1][order],
        levels={name: codes(original, masked, name)[1] for name in names
                if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED)},
        keys=tuple(name for name in key_names(comparison) if name in names),
        secrets=secrets,
        slices=tuple(tuple(x for x in each if x in names) for each in slices),
        stated=tuple(tuple(x for x in each if x in names) for each in comparison.key_sets),
        outside=outside,
    )  # fmt: skip


def _column(original: Microdata, table: Microdata, name: str) -> Floats:
    # Shapes: the answer (n,), of the records of the table.
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        code = codes(original, table, name)[0].astype(np.float64)
        return np.where(code < 0, np.nan, code)
    return np.asarray(numbers(original, table, name), dtype=np.float64)


def _matrix(original: Microdata, table: Microdata, names: Sequence[str]) -> Floats:
    # Shapes: the answer (n, p), a column for each name.
    return np.column_stack([_column(original, table, name) for name in names])
