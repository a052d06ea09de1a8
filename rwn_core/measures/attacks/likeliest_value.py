"""Most likely confidential values of people: their tolerance, and how often they are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS, Kind
from rwn_core.measures.attacks.posterior import counted_entries, entries
from rwn_core.measures.comparison import codes, columns, values_of
from rwn_core.measures.statistics.intervals import beyond_luck, naming_score

NEAR = 0.1  # of the standard deviation, and of the distance of the quartiles
OF_VALUE = 0.05  # of a person's own value
SAME = 1e-9  # relative difference of two numbers that are the same one, written twice
MOST_VALUES = 10  # different values of a number up to which each is a level
_EDGE = 1 + 1e-12  # a number at the very edge lies within it

WORDS = (
    "a number within 0.1 standard deviations, 0.1 interquartile ranges (where most have one value, "
    "of the others) and 5 % of the value (for 0, of a small one), whichever is least"
)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest distance from the true value at which a named value is right."""

    absolute: float  # in the variable's unit; 0 for a category
    relative: float | None = None  # as a share of the true value; None if 0 is no natural origin
    of_zero: float = 0.0  # in the variable's unit, where the true value is 0 and a share of it none

    def around(self, values: Floats) -> Floats:
        """Return the tolerance around each value; at least a number's rounding."""
        # Shapes: the answer has the same shape as the values.
        size = np.abs(values)
        reach = np.full(size.shape, self.absolute)
        if self.relative is not None:
            reach = np.minimum(reach, np.where(size > 0, self.relative * size, self.of_zero))
        return np.asarray(np.maximum(reach, SAME * size) * _EDGE)

    def right(self, named: Floats, truth: Floats) -> Booleans:
        """The marks of named values within tolerance of the true ones, and not missing."""
        # Shapes: named and truth broadcast together, and the answer has the same shape as their
        # broadcast.
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(named - truth) <= self.around(truth), dtype=bool)


EXACT = Tolerance(0.0)
"""The value itself."""


def secret_columns(original: Microdata, table: Microdata, names: Sequence[str]) -> list[Floats]:
    """Return several variables of either table as `values_of`."""
    # Shapes: each of the answer (n,), of the records of the table.
    if set(names) <= set(original.schema.numeric_names):
        return columns(original, table, names)
    return [values_of(original, table, name) for name in names]


def named_values(original: Microdata, table: Microdata, name: str) -> Floats:
    """Return the same with numbers of few values as level numbers."""
    values = values_of(original, table, name)
    levels = _few_values(original, name)
    if levels is None:
        return values
    place = np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
    return np.where(np.isnan(values), np.nan, place.astype(np.float64))


def level_names(original: Microdata, table: Microdata, name: str) -> list[str] | None:
    """Return the levels that `named_values` numbers; None for a number of many values."""
    if original.schema.by_name[name].kind in LEVELS:
        return [str(level) for level in codes(original, table, name)[1]]
    few = _few_values(original, name)
    return None if few is None else [f"{level:g}" for level in few]


def _few_values(original: Microdata, name: str) -> Floats | None:
    """Return the distinct values of a number with few of them, each a level; else None."""
    if original.schema.by_name[name].kind in LEVELS:
        return None

    def find() -> Floats | None:
        # Shapes: the answer (d,), ascending, without equal values.
        values = original.values(name)
        known = np.unique(values[~np.isnan(values)])
        return known if 0 < len(known) <= min(MOST_VALUES, len(values) // 2) else None

    return original.cached(("few values", name), find)


def tolerance(original: Microdata, name: str) -> Tolerance:
    """Return the distance within which a number counts as learned; EXACT for levels."""
    # the least of shares of the standard deviation, of the interquartile range and of the own
    # value, so that one far person does not widen it; the own value counts only if 0 is an origin:
    # not for dates, nor if the middle half of the people lies on both sides of 0. Where most people
    # have one value, the range is that of the others, and a 0 has the share of a small other value
    if original.schema.by_name[name].kind in LEVELS or _few_values(original, name) is not None:
        return EXACT

    def find() -> Tolerance:
        values = original.values(name)
        known = values[~np.isnan(values)]
        if len(known) < 2:
            return EXACT
        low, high = np.quantile(known, (0.25, 0.75))
        spread = float(known.std(ddof=1))
        width = float(high - low)
        others = known[known != low]
        if width == 0 and others.size:
            width = float(np.subtract(*np.quantile(others, (0.75, 0.25)))) or spread
        absolute = NEAR * min(spread, width)
        dated = original.schema.variable(name).kind is Kind.DATE
        if dated or low < 0 < high or not known.any():
            return Tolerance(absolute)
        small = float(np.quantile(np.abs(known[known != 0]), 0.25))
        return Tolerance(absolute, OF_VALUE, OF_VALUE * small)

    return original.cached(("tolerance", name), find)


def most_within_reach(values: Floats, near: Tolerance, weights: Floats | None = None) -> float:
    """Return the largest share of the known values that one single value names correctly."""
    # Shapes: values, weights (n,).
    known = ~np.isnan(values)
    values = values[known]
    weights = (known if weights is None else weights)[known]
    if not values.size:
        return 0.0
    reach = near.around(values)
    # a value is right for all people with it within their tolerance: most intervals over a point
    first, last = np.argsort(values - reach), np.argsort(values + reach)
    gone = np.concatenate(([0.0], np.cumsum(weights[last])))
    ended = np.searchsorted((values + reach)[last], (values - reach)[first], "left")
    return float((np.cumsum(weights[first]) - gone[ended]).max() / weights.sum())


def secret_weights(truth: Floats, units: Integers | None) -> Floats:
    """Return the weight of each record's secret, so that every unit with one has weight 1 in all.

    The different values of a unit weigh the same, however many of its records have one.
    """
    # Shapes: truth, units, the answer (n,).
    weights = np.asarray(~np.isnan(truth), dtype=np.float64)
    if units is not None:
        known = np.flatnonzero(weights)
        pairs = np.column_stack((units[known], truth[known]))
        pairs, place, count = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        different = np.bincount(pairs[:, 0].astype(np.int64))
        weights[known] /= count[place.ravel()] * different[units[known]]
    return weights


EVEN = 1e-9  # relative difference of two masses that count as equal


class Names(NamedTuple):
    """The values that an intruder names of people, shape (names,) each; several of one are tied."""

    person: Integers  # ascending
    value: Floats  # the value or level number
    share: Floats  # posterior probability that the true value is within tolerance

    def right(self, truth: Floats, near: Tolerance) -> Floats:
        """Return P(the named value is right), shape (people,); NaN if no value is named."""
        hits = np.bincount(self.person, near.right(self.value, truth[self.person]), len(truth))
        choices = np.bincount(self.person, minlength=len(truth))
        unknown = np.full(len(truth), np.nan)
        return np.asarray(np.divide(hits, choices, out=unknown, where=choices > 0))

    def given_to(self, place: Integers) -> Names:
        """Give each person the names of the group `place` that this person belongs to."""
        starts = np.searchsorted(self.person, place, "left")
        sizes = np.searchsorted(self.person, place, "right") - starts
        person = np.repeat(np.arange(len(place)), sizes)
        at = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(len(person))
        return Names(person, self.value[at], self.share[at])

    def expected(self, otherwise: Floats) -> Floats:
        """Return the posterior probability of each person's name; `otherwise` without a name."""
        # Shapes: otherwise, the answer (people,).
        total = np.bincount(self.person, self.share, len(otherwise))
        choices = np.bincount(self.person, minlength=len(otherwise))
        return np.asarray(np.divide(total, choices, out=otherwise.copy(), where=choices > 0))


def joined(names: Sequence[Names], people: int) -> Names:
    """Return the names of several strategies as one, person t of number s as s * people + t."""
    person = [each.person + number * people for number, each in enumerate(names)]
    value = [each.value for each in names]
    share = [each.share for each in names]
    return Names(np.concatenate(person), np.concatenate(value), np.concatenate(share))


class ReleasedValues:
    """The released values of one confidential variable, by classes of rows.

    Parameters
    ----------
    group : ndarray of int64, shape (m,)
        Class of each released row.
    released : ndarray of float64, shape (m,)
        Values or level numbers, NaN where missing.
    near : Tolerance
    levels : int, optional
        Number of levels; None for a number.
    weights : ndarray of float64, optional
        What each row counts where the most frequent value is named; 1 if not given.

    Attributes
    ----------
    copied : bool
        True if values come from donors, by a law that does not depend on the values.
    """

    copied = True

    def __init__(
        self,
        group: Integers,
        released: Floats,
        near: Tolerance,
        levels: int | None = None,
        weights: Floats | None = None,
    ) -> None:
        known = np.flatnonzero(~np.isnan(released))
        self.near, self.levels, self.weights = near, levels, weights
        self.values, rank = np.unique(released[known], return_inverse=True)
        classes = int(group.max()) + 1
        self._held = counted_entries(group[known], rank, classes, len(self.values))
        self._often = np.bincount(rank, None if weights is None else weights[known])

    @cached_property
    def rows(self) -> Floats:
        """Return the number of rows of each class that have a value, shape (classes,)."""
        starts, _, often = self._held
        return np.diff(np.append(0.0, np.cumsum(often))[starts])

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        """Return the first value within tolerance of each value, and the first beyond."""
        reach = self.near.around(self.values)
        return (
            np.searchsorted(self.values, self.values - reach, "left"),
            np.searchsorted(self.values, self.values + reach, "right"),
        )

    def with_majority(self, names: Names, people: int) -> Names:
        """Add the most frequent released value for each person without a name."""
        others = np.setdiff1d(np.arange(people), names.person)
        if not others.size or not self.values.size:
            return names
        most = self._majority[:1]
        person = np.concatenate((names.person, others))
        value = np.concatenate((names.value, np.repeat(most, len(others))))
        share = np.concatenate((names.share, np.ones(len(others))))
        order = np.argsort(person, kind="stable")
        return Names(person[order], value[order], share[order])

    def majority(self, truth: Floats) -> Floats:
        """Return P(naming the most frequent released value is right), shape (people,)."""
        named = self._majority
        if not named.size:
            return np.zeros(len(truth))
        return np.asarray(self.near.right(named, truth[:, np.newaxis]).mean(axis=1))

    @cached_property
    def _majority(self) -> Floats:
        """Return the most frequent released value; several if they are equally frequent."""
        from rwn_core.measures.attacks.belief_columns_kernel import HeldValues, Reach, likeliest

        # one class of all rows, which weighs 1
        some = np.flatnonzero(self._often)
        ends = np.array([0, len(some)])
        counts = self._often[some].astype(np.float64)
        held = HeldValues(ends, some.astype(np.int32), counts)
        weights = np.arange(2), np.zeros(1, np.int32), np.ones(1)
        _, value, _ = likeliest(*weights, held, Reach(*self._ends), EVEN)
        return self.values[value]

    def named(self, weights: sparse.csr_array) -> Names:
        """Return the value with most mass within tolerance, by weights (people, classes)."""
        from rwn_core.measures.attacks.belief_columns_kernel import HeldValues, Reach, likeliest

        held = HeldValues(*self._held)
        person, value, share = likeliest(*entries(weights), held, Reach(*self._ends), EVEN)
        return Names(person, self.values[value], share)


CERTAINTIES = (0.0, 0.5, 0.8, 0.95)  # posteriors from which on an intruder names a value
FEWEST = 20  # names outside of the file, below which their precision says little
_HALF = 1 - 1e-9  # a posterior of exactly one half is one half


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """The values of the attacked people."""

    truth: Floats  # shape (people,): values or level numbers, NaN where missing
    near: Tolerance
    levels: int | None  # number of levels; None for a number, which counts as one level
    weights: Floats | None = None  # of each record's value, where units are counted

    @property
    def known(self) -> int:
        """Number of people with a value."""
        return round(float(self._counts.sum()))

    @property
    def _counts(self) -> Floats:
        """Return what each record counts, shape (people,)."""
        return secret_weights(self.truth, None) if self.weights is None else self.weights

    @cached_property
    def of_level(self) -> Floats:
        """Return the number of people with each level, shape (levels,)."""
        if self.levels is None:
            return np.array([float(self.known)])
        known = np.flatnonzero(~np.isnan(self.truth))
        levels = self.truth[known].astype(np.int64)
        return np.asarray(np.bincount(levels, self._counts[known], self.levels), np.float64)

    @cached_property
    def base(self) -> Floats:
        """Return the precision of naming each level of random people, shape (levels,)."""
        if self.levels is None:
            return np.array([most_within_reach(self.truth, self.near, self.weights)])
        return self.of_level / max(self.known, 1)


class Named(NamedTuple):
    """The number of named people by certainty and level: shape (certainties, levels) each."""

    right: Floats
    named: Floats
    records: Floats | None = None  # the named records, where `named` counts units

    @property
    def each(self) -> Floats:
        """Return the records behind each name, 1 where a record is a unit."""
        # Shape: the answer (certainties, levels).
        records = self.named if self.records is None else self.records
        return np.where(self.named > 0, records / np.where(self.named > 0, self.named, 1), 1.0)


def count_names(names: Sequence[Names], people: People) -> list[Named]:
    """Count names and right names of several strategies at each of the `CERTAINTIES`."""
    # several values of one person count as one name in parts; without a true value no name counts
    count = len(people.truth)
    together = joined(names, count)
    truth = people.truth[together.person % count] if count else people.truth
    choices = np.bincount(together.person, minlength=len(names) * count)[together.person]
    weight = np.where(np.isnan(truth), 0.0, 1.0 / np.maximum(choices, 1))
    plain = weight
    if people.weights is not None:
        weight = weight * people.weights[together.person % max(count, 1)]
    hit = weight * people.near.right(together.value, truth)
    size = people.levels or 1
    level = np.zeros(len(truth), int) if people.levels is None else together.value.astype(int)
    # each name counts at all certainties up to its own
    sure = np.searchsorted(np.array(CERTAINTIES) * _HALF, together.share, "right") - 1
    place = (together.person // max(count, 1) * len(CERTAINTIES) + sure) * size + level
    shape = (3, len(names), len(CERTAINTIES), size)
    # without a name these are whole numbers
    counted = [np.bincount(place, each, np.prod(shape[1:])) for each in (hit, weight, plain)]
    all_three = np.array(counted, dtype=np.float64).reshape(shape)
    right, named, records = all_three[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    named = np.maximum(named, right)
    each = [None] * len(names) if people.weights is None else records
    return list(map(Named, right, named, each))


def score_outside(other: Named, others: People, base: Floats) -> Floats:
    """Return what a way scores outside, where its precision counts from `FEWEST` names on."""
    # Shapes: base (levels,), of the people inside; the answer (certainties, levels).
    each = other.each
    certain = naming_score(other.right, other.named, others.of_level, base, each)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = (other.right / other.named - base) / (1 - base)
        plain = other.right / others.of_level * np.maximum(lift, 0.0)
    enough = (other.named * each >= FEWEST) & np.isfinite(plain)
    return np.where(enough, plain, certain)


def beyond_outside(
    found: Named, people: People, outside: Iterable[Floats]
) -> tuple[tuple[int, ...], float]:
    """Return the place (certainty, level) and size of the best score beyond those outside."""
    # Shapes: outside (certainties, levels) each, as of `score_outside`.
    base = people.base
    each = found.each
    own = naming_score(found.right, found.named, people.of_level, base, each)
    own = np.where(beyond_luck(found.right * each, found.named * each, base), own, 0.0)
    # outside, the intruder takes the best way and certainty for a level, too
    reference = np.zeros(own.shape)
    for score in outside:
        reference = np.maximum(reference, score)
    beyond = own - reference.max(axis=0)
    place = np.unravel_index(int(beyond.argmax()), beyond.shape)
    return tuple(map(int, place)), max(float(beyond[place]), 0.0)


def best_score(
    right: Floats, named: Floats, people: Floats, base: Floats, each: Floats | None = None
) -> tuple[tuple[int, ...], float]:
    """Return the place and size of the largest `naming_score` beyond luck; (..., levels) each."""
    # Shapes: right, named, each (w, m), or with other axes before the m levels; people and base
    # broadcast to them, from (m,) for instance. `each` is the records behind a name, as of `Named`.
    each = np.ones_like(named) if each is None else each
    scores = np.zeros(right.shape)
    some = (right > base * named) & beyond_luck(right * each, named * each, base)
    people, base = np.broadcast_to(people, right.shape), np.broadcast_to(base, right.shape)
    scores[some] = naming_score(right[some], named[some], people[some], base[some], each[some])
    place = np.unravel_index(int(scores.argmax()), scores.shape)
    return tuple(map(int, place)), float(scores[place])
