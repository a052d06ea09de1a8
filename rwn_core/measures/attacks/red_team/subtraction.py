"""Subtraction attack: the difference of two releases names people in one of them only."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.rounding import rounded_values
from rwn_core.laws.invariants import Invariants

LEAST = 10  # people behind a difference, from which on it is no reading of one of them
_TELLING = 50  # different values, from which on equal columns are of the same people
Counts = tuple[Integers, Integers]  # of each value, in both files
Unit = tuple[str, ...]
Reading = tuple[Unit, float]  # columns, and how likely the value read is a person's


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subtrahend:
    """A released file and what is known of its method."""

    frame: pd.DataFrame
    keeps: Invariants
    precision: Mapping[str, float]  # the step of each rounded column


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtracted:
    """The knowledge that two releases give by their difference, of people in one of them only."""

    columns: tuple[str, ...]  # those of both files
    # column -> the probability that the value (or class, or change) that is read is a person's
    read: Mapping[str, float]
    # where methods keep no more than the support: the largest probability that a value in one
    # file only is that of a person in one file only; no reading
    shown: float

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns that are read with certainty."""
        return tuple(name for name, chance in self.read.items() if chance == 1)


def subtract(one: Subtrahend, two: Subtrahend, changed: tuple[int, int] | None) -> Subtracted:
    """Subtract two releases; `changed` people are in the first or the second only.

    With None it is unknown whether the releases have common people; then only columns of many
    values that are nearly equal are subtracted.
    """
    names = tuple(name for name in map(str, one.frame) if name in two.frame)
    codes = {name: _codes(one, two, name) for name in names}
    rows_of_one = len(one.frame)

    def counted(unit: Unit) -> Counts:
        columns = np.column_stack([codes[name] for name in unit])
        number = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
        values = int(number.max()) + 1
        first = np.bincount(number[:rows_of_one], minlength=values)
        second = np.bincount(number[rows_of_one:], minlength=values)
        return first, second

    known = changed is not None
    at_least = changed or (1, 1)
    readings = [
        (unit, _chance(counted(unit), at_least, known=known))
        for unit in _common_rows(one.keeps, two.keeps, names)
    ]
    if names:
        # full rows of files that are nearly equal, for whatever reason
        readings.append((names, _chance(counted(names), at_least, known=False)))

    # what one file shows of the original and the other, which has all values, lacks
    shown = 0.0
    for left, right, step in ((one.keeps, two.keeps, 1), (two.keeps, one.keeps, -1)):
        for common in _common_columns(left.support, names):
            for name in common:
                own, other = counted((name,))[::step]
                if name in right.values:
                    readings.append((common, _chance_of_lost(own, other, known=known)))
                else:
                    shown = max(shown, _shown_alone(own, other))

    if changed is not None and 0 < max(changed) < LEAST:
        readings += _kept_alike(one.keeps, two.keeps, names, 1 / max(changed))
    return Subtracted(columns=names, read=_largest_chances(readings), shown=shown)


def _common_columns(units: Iterable[Unit], names: Container[str]) -> list[Unit]:
    """Return the columns of each unit that both files have."""
    common = []
    for unit in units:
        common.append(tuple(name for name in unit if name in names))
    return common


def _largest_chances(readings: Iterable[tuple[Unit, float]]) -> dict[str, float]:
    """Return the largest chance of each column at which it is read; those without are left out."""
    largest: dict[str, float] = {}
    for unit, chance in readings:
        if chance:
            largest.update({name: max(chance, largest.get(name, 0.0)) for name in unit})
    return largest


def _common_rows(one: Invariants, two: Invariants, names: Unit) -> list[Unit]:
    """Return the columns of either file whose combinations both methods keep, where there are."""
    pairs = product(one.rows, two.rows)
    common = []
    for left, right in pairs:
        common.append(tuple(n for n in left if n in right and n in names))
    return [unit for unit in common if unit]


def _chance_of_lost(own: Integers, other: Integers, *, known: bool) -> float:
    """Return the chance that a value that the other file lacks, which has all, is a person's."""
    lost = int(np.count_nonzero((own > 0) & (other == 0)))
    telling = len(own) >= _TELLING
    return 1 / lost if 0 < lost < LEAST and (known or telling) else 0.0


def _shown_alone(own: Integers, other: Integers) -> float:
    """Return the chance that a value of one file only is that of a person in that file only."""
    lost = np.count_nonzero((own > 0) & (other == 0))
    if not lost or len(own) < _TELLING:
        return 0.0
    # common people lose values by chance, too
    by_chance = np.count_nonzero((other > 0) & (own == 0))
    return 1 / float(1 + by_chance)


def _kept_alike(one: Invariants, two: Invariants, names: Unit, chance: float) -> list[Reading]:
    """Return what the totals that both methods keep read, and columns that neither moves."""
    values = set(one.values) & set(two.values)  # those are subtracted by their counts
    totals_of_one = {*one.totals, *one.values} - values
    totals_of_two = {*two.totals, *two.values} - values
    readings: list[Reading] = [
        (tuple(n for n in names if n in totals_of_one & totals_of_two), chance)
    ]
    if one.fixed and two.fixed:
        readings.append((names, chance))
    return readings


def _codes(one: Subtrahend, two: Subtrahend, name: str) -> Integers:
    """Return the values of a column of both files as numbers, at the coarser of two roundings."""
    columns = [one.frame[name], two.frame[name]]
    if all(map(pd.api.types.is_numeric_dtype, columns)):
        numbers = [each.astype("Float64").to_numpy(np.float64, na_value=np.nan) for each in columns]
        values: Floats = np.concatenate(numbers)
        step = max(each.precision.get(name, 0.0) for each in (one, two))
        both = pd.Series(rounded_values(values, step) if step else values)
    else:
        texts = [each.astype(object).where(each.isna(), each.astype(str)) for each in columns]
        both = pd.concat(texts, ignore_index=True)
    return np.asarray(pd.factorize(both, use_na_sentinel=False)[0], dtype=np.int64)


def _chance(counts: tuple[Integers, Integers], changed: tuple[int, int], *, known: bool) -> float:
    """Return the chance that a difference names a person's value correctly, or 0."""
    best = 0.0
    for own, other in (counts, counts[::-1]):
        more = np.maximum(own - other, 0)
        total = int(more.sum())
        different = int((own > 0).sum())
        if not total or len(own) == 1 or not (known or different >= _TELLING):
            continue
        # counts of values that are in both files may cancel out
        people = total if (other[more > 0] == 0).any() else max(total, min(changed))
        single = np.count_nonzero(more) == 1 and known and not min(changed)
        if people < LEAST or single:
            best = max(best, float(more.max()) / total)
    return best
