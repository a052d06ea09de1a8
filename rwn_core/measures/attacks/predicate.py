"""Predicates that one person satisfies, a release's answers to them, and the search for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any, Literal, NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.data.variable import LEVELS
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.value_survival import count_distribution
from rwn_core.measures.comparison import numbers

Sign = Literal["is", "at least", "at most"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One part of a predicate."""

    name: str  # a variable
    sign: Sign  # "is" for a category, the others for a number
    value: Any  # a level, or a number

    def fits(self, original: Microdata, table: Microdata) -> Booleans:
        """The marks of records that meet it, shape (n,); a missing value never does."""
        if self.sign == "is":
            levels = original.codes(self.name)[1]
            place = next((i for i, level in enumerate(levels) if level == self.value), -2)
            return np.asarray(table.codes(self.name, levels)[0] == place)
        values = numbers(original, table, self.name)
        with np.errstate(invalid="ignore"):
            beyond = values >= self.value if self.sign == "at least" else values <= self.value
        return np.asarray(beyond, dtype=bool)

    @property
    def words(self) -> str:
        """The condition in words; it holds a value and stays internal."""
        if self.sign == "is":
            return f"{self.name} = {self.value}"
        return f"{self.name} {'≥' if self.sign == 'at least' else '≤'} {self.value:.6g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """A question about the records that meet all of its conditions."""

    conditions: tuple[Condition, ...]

    @property
    def words(self) -> str:
        """The predicate in words; it holds values and stays internal."""
        return " and ".join(condition.words for condition in self.conditions)

    def matches(self, original: Microdata, table: Microdata) -> Booleans:
        """The marks of records of either table that meet all conditions, shape (n,)."""
        fits = np.ones(table.n, dtype=bool)
        for condition in self.conditions:
            fits &= condition.fits(original, table)
        return fits

    def chances(self, law: Law, stated: tuple[str, Booleans] | None = None) -> Floats:
        """Return P(each record's released row meets the predicate), and what is stated, (n,)."""
        # stated: one more variable and the records that fit it, shape (n,)
        parts = [weight * self._chances(cells, stated) for weight, cells in law.components()]
        return np.asarray(np.sum(parts, axis=0))

    def _chances(self, cells: Law, stated: tuple[str, Booleans] | None) -> Floats:
        # Shapes: the records that fit, and the answer, (n,). Cells are independent.
        chances = np.ones(cells.original.n)
        fitting = {}
        for unit in cells.units():
            parts = [
                condition.fits(cells.original, cells.original)
                for condition in self.conditions
                if condition.name in unit
            ]
            if stated is not None and stated[0] in unit:
                parts.append(stated[1])
            if parts:
                # variables of one group take one donor's values: the donor must fit them all
                all_fit = np.prod(parts, axis=0, dtype=np.float64)
                if cells.tied is not None:
                    fitting[unit[0]] = all_fit
                elif cells.donors is None:
                    table, values = cells.table(unit[0])
                    by_value = np.zeros(len(values))
                    by_value[value_codes(cells.original, unit[0])[0]] = all_fit
                    chances *= table @ by_value
                else:
                    q = cells.modification(unit[0])
                    chances *= (1 - q) * all_fit + q * (cells.donors.matrix @ all_fit)
        return cells.tied.fitting(fitting) if fitting else chances

    def tells(self, law: Law, name: str, fits: Booleans) -> Floats:
        """Return P(a released value fits | the row meets the predicate), shape (n,)."""
        # where the variable shares its donor with the predicate's, the donor must fit them all
        chances, joint = self.chances(law), self.chances(law, (name, fits))
        return np.asarray(np.divide(joint, chances, out=np.zeros_like(joint), where=chances > 0))


def answer(law: Law, predicate: Predicate) -> tuple[Floats, Floats]:
    """Return the distribution of the answer: Poisson-binomial, as rows are independent."""
    # Shapes: the distribution of the number of released records that meet the predicate (c,); P(it
    # is one, and this one) (n,).
    chances = np.clip(predicate.chances(law), 0.0, 1.0)
    sure = chances >= 1.0
    if sure.sum() > 1:
        alone = np.zeros(len(chances))
    elif sure.any():
        alone = np.where(sure, np.prod(1.0 - chances[~sure]), 0.0)
    else:
        alone = np.prod(1.0 - chances) * chances / (1.0 - chances)
    return count_distribution(chances), alone


MOST = 60  # predicates
MOST_LEVELS = 50  # of a category that takes part
GRID = np.linspace(0.1, 0.9, 17)  # quantiles at which two numbers are cut together


def single_record_predicates(
    original: Microdata, keys: Sequence[str]
) -> list[tuple[Predicate, int]]:
    """Return predicates on the keys that one original record meets, with it; the simplest first."""
    cuts = [name for name in keys if original.schema.by_name[name].kind not in LEVELS]
    groups = [
        name for name in keys if name not in cuts and len(original.codes(name)[1]) <= MOST_LEVELS
    ]
    result: dict[tuple[int, frozenset[str]], Predicate] = {}
    for predicate, record in islice(_candidates(original, groups, cuts), 20 * MOST):
        names = frozenset(condition.name for condition in predicate.conditions)
        simpler = any(other == record and known < names for other, known in result)
        if not simpler:
            result.setdefault((record, names), predicate)
        if len(result) >= MOST:
            break
    return [(predicate, record) for (record, _), predicate in result.items()]


def _candidates(
    original: Microdata, groups: list[str], cuts: list[str]
) -> Iterator[tuple[Predicate, int]]:
    for size in (1, 2, 3):
        for names in combinations(groups, size):
            yield from _cells(original, names)
        for names in combinations(groups, size - 1):
            for cut in cuts:
                yield from _tails(original, names, cut)
        if size == 2:
            places = dict[str, _Places]()
            for one, two in combinations(cuts, 2):
                yield from _corners(original, one, two, places)


def _conditions(original: Microdata, names: Sequence[str], record: int) -> tuple[Condition, ...]:
    conditions = []
    for name in names:
        codes, levels = original.codes(name)
        conditions.append(Condition(name=name, sign="is", value=levels[codes[record]]))
    return tuple(conditions)


def _partition(original: Microdata, names: Sequence[str]) -> Integers:
    """Return the cell of each record, -1 where a value is missing."""
    if not names:
        return np.zeros(original.n, dtype=np.int64)
    cells = np.column_stack([original.codes(name)[0] for name in names])
    _, numbered = np.unique(cells, axis=0, return_inverse=True)
    return np.where((cells < 0).any(axis=1), -1, numbered.ravel())


def _cells(original: Microdata, names: Sequence[str]) -> Iterator[tuple[Predicate, int]]:
    cell = _partition(original, names)
    counts = np.bincount(cell[cell >= 0], minlength=1)
    for record in np.flatnonzero((cell >= 0) & (counts[cell] == 1)).tolist():
        yield Predicate(conditions=_conditions(original, names, record)), record


def _tails(original: Microdata, names: Sequence[str], cut: str) -> Iterator[tuple[Predicate, int]]:
    """Yield the largest and the smallest value of each cell if only one record has it."""
    cell = _partition(original, names)
    values = original.values(cut)
    usable = np.flatnonzero((cell >= 0) & ~np.isnan(values))
    for upward in (True, False):
        key = values[usable] if upward else -values[usable]
        order = usable[np.lexsort((-key, cell[usable]))]
        starts = np.flatnonzero(np.diff(cell[order], prepend=-2))
        ends = np.append(starts[1:], len(order))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end - start < 2 or values[order[start]] == values[order[start + 1]]:
                continue
            record, second = int(order[start]), int(order[start + 1])
            limit = simplest_between(float(values[second]), float(values[record]))
            own = Condition(name=cut, sign="at least" if upward else "at most", value=limit)
            yield Predicate(conditions=(*_conditions(original, names, record), own)), record


def simplest_between(one: float, other: float) -> float:
    """Return a number of few digits strictly between two; the other one if there is none.

    >>> simplest_between(262.75, 363.15), simplest_between(80, 81), simplest_between(0.12, 0.1)
    (300.0, 80.5, 0.11)
    """
    low = min(one, other)
    high = max(one, other)
    width = high - low
    if not np.isfinite(width) or width <= 0:
        return other
    for digits in range(-int(np.floor(np.log10(width))) - 1, 20):
        for step in (5, 1, 2):
            size = step * 10.0**-digits
            result = float(f"{(np.floor(low / size) + 1) * size:.15g}")  # a multiple above
            if low < result < high:
                return result
    return other


class _Places(NamedTuple):
    """The places of one variable among its cuts."""

    cuts: Floats  # shape (c,), ascending
    at_least: Integers  # shape (n,): how many of the first cuts a value reaches
    at_most: Integers  # shape (n,): how many of the last cuts it does not exceed

    @classmethod
    def of(cls, values: Floats, known: Integers) -> _Places:
        """Return the places among quantiles of the known records' values."""
        cuts = np.unique(np.quantile(values[known], GRID))
        missing = np.isnan(values)
        below = np.searchsorted(cuts, values, side="right")
        above = len(cuts) - np.searchsorted(cuts, values)
        return cls(cuts, np.where(missing, 0, below), np.where(missing, 0, above))


def _beyond_both(
    across: _Places, along: _Places, up_across: bool, up_along: bool
) -> tuple[Integers, Integers, Integers]:
    """Count the records beyond each pair of cuts, and beyond each cut of either variable."""
    # Shapes: (c, d), (c,) and (d,).
    first = across.at_least if up_across else across.at_most
    second = along.at_least if up_along else along.at_most
    shape = len(across.cuts) + 1, len(along.cuts) + 1
    counts = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)
    # of so many cuts of both or more
    counts = counts[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    order = slice(None, None, 1 if up_across else -1), slice(None, None, 1 if up_along else -1)
    return counts[1:, 1:][order], counts[1:, 0][order[0]], counts[0, 1:][order[1]]


def _corners(
    original: Microdata, one: str, two: str, whole: dict[str, _Places]
) -> Iterator[tuple[Predicate, int]]:
    """Yield pairs of cuts that one record in the middle of both variables meets."""
    # `whole` holds the places of variables among all records
    x, y = original.values(one), original.values(two)
    usable = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if usable.size < 4:
        return
    if usable.size == original.n:
        for name, values in ((one, x), (two, y)):
            if name not in whole:
                whole[name] = _Places.of(values, usable)
        across = whole[one]
        along = whole[two]
    else:
        across, along = (_Places.of(values, usable) for values in (x, y))
    for up_x, up_y in product((True, False), repeat=2):
        counts, beyond_x, beyond_y = _beyond_both(across, along, up_x, up_y)
        if not (counts == 1).any():
            continue
        spread = np.minimum.outer(beyond_x, beyond_y)
        i, j = np.unravel_index(np.where(counts == 1, spread, -1).argmax(), counts.shape)
        corner = tuple(
            Condition(name=name, sign="at least" if up else "at most", value=float(limit))
            for name, limit, up in ((one, across.cuts[i], up_x), (two, along.cuts[j], up_y))
        )
        predicate = Predicate(conditions=corner)
        yield predicate, int(np.flatnonzero(predicate.matches(original, original))[0])
