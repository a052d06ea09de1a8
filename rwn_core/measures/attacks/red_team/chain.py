"""Chain attack: merges of the slices of two releases, up to a confidential value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers
from rwn_core.measures.attacks.red_team.finding import best_single_guess, reach_of
from rwn_core.measures.statistics.intervals import naming_score

_SAME = 1e-9  # relative difference of numbers that are the same value

Slices = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained:
    """The names of one confidential variable by a chain of merges."""

    # the merges in order: the release, and the columns of its slice
    path: tuple[tuple[int, tuple[str, ...]], ...]
    secret: str
    level: str | None  # a category of it; None for a number
    # right, named, people: people named correctly, named, and having the value (of a number: all)
    right: int
    named: int
    people: int
    exact: int  # people with a correctly named exact value
    base: float  # precision of naming the value of random people
    score: float  # from `naming_score`


def chain(
    original: pd.DataFrame,
    releases: Sequence[tuple[pd.DataFrame, Slices]],
    keys: Sequence[str],
    secrets: Sequence[str],
) -> list[Chained]:
    """Return the names of one merge or two, with the highest score first."""
    # releases are rows in any order with their slices: columns with values of one person. A
    # merge looks a person up by all known or inferred values of a slice and infers a further value
    # if the rows found agree on it. A number is right within `reach` of the person's own value.
    wanted = [name for name in secrets if name in original and name not in keys]
    tables = _Tables.from_frames(original, releases)
    known = {name: tables.people[name] for name in keys if name in tables.people}
    found: list[Chained] = []
    for steps in _chains(tables, known, wanted):
        found += _scored(tables, *steps)
    return sorted(found, key=lambda each: -each.score)


@dataclass(frozen=True, slots=True)
class _Tables:
    """All values as numbers; a category by its place among the levels of all tables."""

    people: dict[str, Floats]
    rows: tuple[dict[str, Floats], ...]
    slices: tuple[tuple[tuple[str, ...], ...], ...]
    levels: dict[str, list[str]]

    @classmethod
    def from_frames(
        cls, original: pd.DataFrame, releases: Sequence[tuple[pd.DataFrame, Slices]]
    ) -> _Tables:
        frames = [original, *(frame for frame, _ in releases)]
        names = list(map(str, original))

        levels = {}
        for name in names:
            columns = [frame[name] for frame in frames if name in frame]
            if not all(map(_is_of_numbers, columns)):
                texts = pd.concat([column.dropna().astype(str) for column in columns])
                levels[name] = sorted(texts.unique())
        people, *rows = [_values(frame, names, levels) for frame in frames]
        slices = [
            _slices_of(columns, stated) for (_, stated), columns in zip(releases, rows, strict=True)
        ]
        return cls(people, tuple(rows), tuple(slices), levels)


def _is_of_numbers(column: pd.Series[Any]) -> bool:
    """True if a column has numbers that are no truth values."""
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _values(
    frame: pd.DataFrame, names: Sequence[str], levels: Mapping[str, list[str]]
) -> dict[str, Floats]:
    """Return the columns that a table has, as numbers."""
    return {name: _numbers(frame[name], levels.get(name)) for name in names if name in frame}


def _slices_of(columns: Mapping[str, Floats], stated: Slices) -> tuple[tuple[str, ...], ...]:
    """Return the slices of a release, of the columns that are attacked."""
    slices = []
    for names in stated:
        slices.append(tuple(name for name in names if name in columns))
    return tuple(slices)


def _numbers(column: pd.Series[Any], levels: list[str] | None) -> Floats:
    # Shapes: the answer (n,), as the column.
    if levels is None:
        return np.asarray(column.astype("Float64").to_numpy(np.float64, na_value=np.nan))
    places = pd.Categorical(column.astype(object).where(column.isna(), column.astype(str)), levels)
    return np.where(places.codes < 0, np.nan, np.asarray(places.codes, np.float64))


class _Step(NamedTuple):
    """A merge with a release by a slice of it."""

    release: int
    names: tuple[str, ...]


_Steps = tuple[tuple[_Step, ...], str, Floats]


def _chains(tables: _Tables, known: dict[str, Floats], wanted: Sequence[str]) -> Iterator[_Steps]:
    """Yield path, variable and inferred values of one merge, or of two in different releases."""
    steps: list[_Step] = []
    for release, slices in enumerate(tables.slices):
        steps += [_Step(release, names) for names in slices]
    for one in steps:
        first = _further(tables, one, known, known)
        yield from (((one,), name, first[name]) for name in wanted if name in first)
        for other in steps if first else ():
            if other.release != one.release and set(other.names) & set(first):
                second = _further(tables, other, {**first, **known}, first)
                yield from (((one, other), name, second[name]) for name in wanted if name in second)


def _further(
    tables: _Tables, step: _Step, at_hand: dict[str, Floats], by: dict[str, Floats]
) -> dict[str, Floats]:
    """Return the other values of a slice where the rows that match a person agree.

    Nothing where the slice has none of the columns `by`, or no others.
    """
    # Shapes: each of at_hand, by, the answer (n,), of the people.
    names = step.names
    rows = tables.rows[step.release]
    if not set(by) & set(names):
        return {}
    known = [name for name in names if name in at_hand]
    grids = {name: np.unique(rows[name][~np.isnan(rows[name])]) for name in known}
    people, released = (
        pd.DataFrame({name: _places(table[name], grids[name]) for name in known})
        for table in (at_hand, rows)
    )
    usable = (released >= 0).all(axis=1).to_numpy()
    further = {name: rows[name] for name in names if name not in at_hand}
    if not further:
        return {}
    groups = pd.DataFrame(further)[usable].groupby([released[name][usable] for name in known])
    low = groups.min()
    high = groups.max()
    # no value at all where one is missing
    agreed = low.where((low == high) & groups.count().eq(groups.size(), axis=0))
    found = agreed.reindex(pd.MultiIndex.from_frame(people) if len(known) > 1 else people[known[0]])
    return {name: found[name].to_numpy(np.float64) for name in further}


def _places(values: Floats, grid: Floats) -> Integers:
    """Return the released value that each value is rounded to, -1 for none."""
    if not len(grid):
        return np.full(len(values), -1)
    reach = np.diff(grid).min() / 2 if len(grid) > 1 else 0.0
    known = np.where(np.isnan(values), grid[0], values)
    right = np.clip(np.searchsorted(grid, known), 1, max(len(grid) - 1, 1))
    right = np.minimum(right, len(grid) - 1)
    left = np.maximum(right - 1, 0)
    place = np.where(known - grid[left] <= grid[right] - known, left, right)
    near = np.abs(known - grid[place]) <= reach + _SAME * np.abs(known)
    return np.where(near & ~np.isnan(values), place, -1).astype(np.int64)


def _scored(
    tables: _Tables, path: tuple[_Step, ...], secret: str, values: Floats
) -> Iterator[Chained]:
    """Yield the score of a number, or of each level of a category."""
    # Shapes: values (n,), of the people.
    truth = tables.people[secret]
    has = ~np.isnan(truth)
    named = has & ~np.isnan(values)
    exact = named & (np.abs(values - truth) <= _SAME * np.abs(truth))
    if secret not in tables.levels:
        near = np.maximum(reach_of(truth).of(truth), _SAME * np.abs(truth))
        right = named & (np.abs(values - truth) <= near)
        groups: list[Any] = [(None, has, named, right, best_single_guess(truth[has], near[has]))]
    else:
        levels = (
            (level, truth == place, named & (values == place))
            for place, level in enumerate(tables.levels[secret])
        )
        groups = [
            (level, people, as_this, people & as_this, people.sum() / has.sum())
            for level, people, as_this in levels
            if people.any()
        ]
    for level, people, as_this, right, base in groups:
        rightly, count, having = int(right.sum()), int(as_this.sum()), int(people.sum())
        yield Chained(
            path=path,
            secret=secret,
            level=level,
            right=rightly,
            named=count,
            people=having,
            exact=int((exact & right).sum()),
            base=float(base),
            score=float(naming_score(rightly, count, having, base)),
        )
