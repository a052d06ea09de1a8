"""Files of the red team: columns of people and released rows in random order, and their points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.variable import LEVELS
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, empty_records, values_of
from rwn_core.measures.statistics.key_variables import confidential_names, key_names

Names = tuple[str, ...]
Two = tuple[Floats, Floats]

FEW_VALUES = 12  # of a number: up to so many different ones are levels, such as 0 and 1
MIDDLE_HALF = 1.349  # standard deviations of a normal number
EVEN = 3.5  # standard deviations from the first to the last rank: that of even numbers is one
MANY_LEVELS = 50  # of a category; of more, the code alone is compared as a number
_SHUFFLES = (20_260, 20_261)  # of people and of rows: one order would give away the sources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Files:
    """The files of simple attacks; a category is the number of its level, NaN is missing."""

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
    # whether the people are one side of a halving: what names them by luck names the others, too
    is_side: bool = False
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of released rows, and of the people they belong to."""
        return len(self.rows)

    @property
    def one_record_each(self) -> bool:
        """True if no person or household has several records."""
        return int(self.unit.max()) + 1 == len(self.unit)

    @property
    def random_share(self) -> float:
        """Share of the rows that are linked correctly by naming random people."""
        return 1.0 / (int(self.unit.max()) + 1)

    @property
    def known(self) -> Names:
        """The keys that are not confidential themselves."""
        return tuple(name for name in self.keys if name not in self.secrets)

    def of_people(self, some: Booleans, secrets: Names) -> Files:
        """Return the same rows with some of the people and some of the confidential variables."""
        return replace(
            self,
            people=self.people[some],
            truth=self.truth[some],
            unit=np.unique(self.unit[some], return_inverse=True)[1],
            secrets=secrets,
            is_side=True,
            memo={},
        )

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the columns of some variables."""
        return [self.names.index(name) for name in names]

    def column(self, table: Floats, name: str) -> Floats:
        """Return one variable of one of the tables."""
        # Shapes: table (n, p); the answer (n,).
        return table[:, self.names.index(name)]

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
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
    names = _readable_names(original, masked)
    precision = {} if comparison.law is None else comparison.law.precision
    asked = shown if inside is None else everyone
    truth = _matrix(original, original, names)[asked]
    people = _matrix(original, rounded(original, precision), names)[asked]
    rows = _matrix(original, masked, names)[shown]
    order = _shuffled(truth, _SHUFFLES[0])
    place = _shuffled(rows, _SHUFFLES[1])
    own = np.arange(len(shown)) if inside is None else inside[shown]
    unit = asked if comparison.units is None else comparison.units[asked]
    slices = original.schema.slices if comparison.law is None else comparison.law.units()
    outside = None
    if comparison.holdout is not None:
        with suppress(NotApplicable, KeyError):
            outside = _matrix(original, comparison.holdout, names)
    with_levels = [name for name in names if original.schema.by_name[name].kind in LEVELS]
    return Files(
        names=tuple(names),
        people=people[order],
        truth=truth[order],
        rows=rows[place],
        owner=np.argsort(order)[own][place],
        unit=np.unique(unit, return_inverse=True)[1][order],
        levels={name: codes(original, masked, name)[1] for name in with_levels},
        keys=_among(names, key_names(comparison)),
        secrets=_among(names, confidential_names(comparison)),
        slices=tuple(_among(names, each) for each in slices),
        stated=tuple(_among(names, each) for each in comparison.key_sets),
        outside=outside,
    )


def _readable_names(original: Microdata, masked: Microdata) -> list[str]:
    """Return the released variables but those that are released as another kind of values."""
    names: list[str] = []
    for variable in original.schema.released:
        with suppress(NotApplicable):
            values_of(original, masked, variable.name)
            names.append(variable.name)
    return names


def _among(names: Sequence[str], some: Iterable[str]) -> tuple[str, ...]:
    """Return those of some names that are among the names of a file."""
    return tuple(name for name in some if name in names)


def _shuffled(values: Floats, seed: int) -> Integers:
    """Return a random order of rows that depends on their values, not on their places."""
    by_values = np.lexsort(np.nan_to_num(values, nan=np.inf, posinf=np.inf).T)
    shuffled: Integers = by_values[np.random.default_rng(seed).permutation(len(values))]
    return shuffled


def _matrix(original: Microdata, table: Microdata, names: Sequence[str]) -> Floats:
    # Shapes: the answer (n, p), a column for each name.
    return np.column_stack([values_of(original, table, name) for name in names])


# People and rows as points: every variable in spreads or in ranks


def knowledge(files: Files) -> Iterator[tuple[Names, str]]:
    """Yield what an intruder may know: all variables, or the keys."""
    yield files.names, "all variables"
    if files.known and set(files.known) != set(files.names):
        yield files.known, "the keys"


def standardized(files: Files, names: Sequence[str]) -> Two:
    """Return points in robust standard deviations; levels are corners one unit apart."""
    return _points(files, names, _spreads)


def ranked(files: Files, names: Sequence[str]) -> Two:
    """Return points of ranks, of people and rows separately; levels are corners."""
    return _points(files, names, _ranks)


def _points(files: Files, names: Sequence[str], numbers: Callable[[Floats, Floats], Two]) -> Two:
    # Points of people and of rows, shape (people, coordinates) and (rows, coordinates).
    people, rows = [np.zeros((len(files.people), 0))], [np.zeros((len(files.rows), 0))]
    for name in names:
        make = partial(_coordinates, files, name, numbers)
        person, row = files.cached(("points", numbers, name), make)
        people.append(person)
        rows.append(row)
    return np.column_stack(people), np.column_stack(rows)


def _coordinates(files: Files, name: str, numbers: Callable[[Floats, Floats], Two]) -> Two:
    people, rows = files.column(files.people, name), files.column(files.rows, name)
    if name not in files.levels or len(files.levels[name]) > MANY_LEVELS:
        return _filled(*numbers(people, rows))
    levels = np.unique(np.concatenate((people, rows)))
    levels = levels[~np.isnan(levels)]
    one, two = ((each[:, np.newaxis] == levels) / np.sqrt(2.0) for each in (people, rows))
    return one, two


def _spreads(people: Floats, rows: Floats) -> Two:
    # Shapes: people and its answer (n,); rows and its answer (m,).
    known = people[~np.isnan(people)]
    middle, unit = 0.0, 1.0
    if known.size:
        low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
        unit = (high - low) / MIDDLE_HALF or float(known.std()) or 1.0
    return (people - middle) / unit, (rows - middle) / unit


def _ranks(people: Floats, rows: Floats) -> Two:
    # shapes (n,) of people, (m,) of rows: ranks from 1, of equal values their mean; NaN: missing
    return EVEN * (_mean_ranks(people) / len(people)), EVEN * (_mean_ranks(rows) / len(rows))


def _mean_ranks(values: Floats) -> Floats:
    known = np.flatnonzero(~np.isnan(values))
    ranks = np.full(len(values), np.nan)
    _, place, count = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks[known] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _filled(people: Floats, rows: Floats) -> Two:
    """Put missing values in the middle, and mark them in a second column if there are any."""
    # Shapes: people (n,), rows (m,); each of the answer has one column, or two.
    marks = [np.isnan(values) for values in (people, rows)]
    filled = []
    for values, missing in zip((people, rows), marks, strict=True):
        middle = 0.0 if missing.all() else float(np.nanmean(values))
        filled.append(np.where(missing, middle, values))
    if not any(missing.any() for missing in marks):
        return filled[0][:, np.newaxis], filled[1][:, np.newaxis]
    one, two = map(np.column_stack, zip(filled, marks, strict=True))
    return one, two
