"""Prediction of a confidential value from the keys, by models of the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.laws.moments import Moments
from rwn_core.measures.attacks.confidential_value import level_names, named_values, secret_columns
from rwn_core.measures.attacks.likeliest_value import Names, ReleasedValues

MOST_LEVELS = 50  # of a category; of one with more the most frequent are told apart
DEPTH = 5  # of a tree
LEAF = 5  # rows of a leaf, at least


class KeyColumns:
    """Keys as columns of numbers, categories as dummies, on the scale of `table`."""

    def __init__(self, original: Microdata, table: Microdata, names: Sequence[str]) -> None:
        self.original, self.names = original, names
        self.places: dict[str, int] = {}  # of the columns that are numbers
        plain = self._plain(table)
        self.mean = _mean(plain)
        spread = np.sqrt(_mean((plain - self.mean) ** 2))
        self.unit = np.where(spread > 0, spread, 1.0)
        self.own = self._scaled(plain)

    def scaled_columns(self, table: Microdata) -> Floats:
        """Return the columns of another table on the same scale, shape (n, columns)."""
        return self._scaled(self._plain(table))

    def _scaled(self, plain: Floats) -> Floats:
        scaled = (plain - self.mean) / self.unit
        return np.asarray(np.where(np.isnan(scaled), 0.0, scaled))  # missing: the mean

    def _plain(self, table: Microdata) -> Floats:
        columns: list[Floats] = []
        shown = secret_columns(self.original, table, self.names)
        for name, values in zip(self.names, shown, strict=True):
            if self.original.schema.by_name[name].kind is Kind.CATEGORICAL:
                (own,) = secret_columns(self.original, self.original, (name,))
                columns += list(_dummies(values, _frequent(own)).T)
            else:
                self.places[name] = len(columns)
                columns.append(values)
        return np.column_stack(columns)


def _mean(columns: Floats) -> Floats:
    known = ~np.isnan(columns)
    sums = np.where(known, columns, 0.0).sum(axis=0)
    return np.asarray(sums / np.maximum(known.sum(axis=0), 1))


def _frequent(codes: Floats) -> Floats:
    """Return the most frequent level numbers, ascending."""
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    return np.sort(levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])


def _dummies(codes: Floats, levels: Floats) -> Floats:
    return np.asarray(codes[:, np.newaxis] == levels, dtype=np.float64)


class Predictor:
    """Prediction of one confidential variable from the keys, as a release relates them.

    Parameters
    ----------
    original, masked : Microdata
    name : str
        The confidential variable.
    released, known : KeyColumns
        Keys of the release, and everyone's keys, which the intruder has.
    moments : Moments, optional
        Covariances that the law adds to numbers.
    """

    def __init__(
        self,
        original: Microdata,
        masked: Microdata,
        name: str,
        released: KeyColumns,
        known: KeyColumns,
        moments: Moments | None = None,
    ) -> None:
        self.released, self.known, self.name = released, known, name
        self.moments = moments
        shown = named_values(original, masked, name)
        self.rows = np.flatnonzero(~np.isnan(shown))
        self.category = level_names(original, masked, name) is not None
        self.values = shown[self.rows]
        self.levels = _frequent(self.values) if self.category else np.empty(0)
        self.distinct = np.unique(self.values)

    @property
    def usable(self) -> bool:
        """True if there are at least two rows and two distinct values."""
        return len(self.rows) > 1 and len(self.distinct) > 1

    @property
    def _target(self) -> Floats:
        if self.category:
            return _dummies(self.values, self.levels)
        return self.values[:, np.newaxis]

    def line(self, people: Microdata) -> Names:
        """Return the prediction of least squares on the released keys."""
        columns, target = self.released.own[self.rows], self._target
        center, middle = columns.mean(axis=0), target.mean(axis=0)
        slopes = np.linalg.lstsq(columns - center, target - middle, rcond=1e-9)[0]
        return self._names(middle + (self.released.scaled_columns(people) - center) @ slopes)

    def corrected(self, people: Microdata) -> Names:
        """Return the prediction of least squares without the attenuation by noise on the keys."""
        # noise that is independent of the other values adds to the keys' variances alone, and the
        # intruder knows the keys' covariances without it (errors in variables; Fuller 1987)
        shown = self.released.own[self.rows] * self.released.unit
        target, known = self._target, self.known.own
        middle = target.mean(axis=0)
        together = (shown - shown.mean(axis=0)).T @ (target - middle) / len(self.rows)
        moments = known.T @ known / len(known), together / self.known.unit[:, np.newaxis]
        slopes = np.linalg.lstsq(*moments, rcond=1e-9)[0]
        return self._names(middle + self.known.scaled_columns(people) @ slopes)

    def less_noise(self, people: Microdata) -> Names | None:
        """Return the prediction of least squares less the law's covariances in all moments."""
        # None if the law has none, or no covariance matrix is left
        if self.moments is None or self.category or self.name not in self.moments.names:
            return None
        columns, target = self.released.own[self.rows], self.values
        added = np.zeros((columns.shape[1] + 1,) * 2)
        noisy = {
            name: at for name, at in self.released.places.items() if name in self.moments.names
        }
        at = np.array([*noisy.values(), columns.shape[1]])
        of = [self.moments.names.index(name) for name in (*noisy, self.name)]
        unit = np.append(self.released.unit, 1.0)
        added[np.ix_(at, at)] = self.moments.together[np.ix_(of, of)] / len(self.rows)
        added /= unit[:, np.newaxis] * unit
        both = np.column_stack((columns, target))
        own = (both - both.mean(axis=0)).T @ (both - both.mean(axis=0)) / len(both) - added
        spread = np.linalg.eigvalsh(own[:-1, :-1])
        if spread[0] < -1e-9 * spread[-1] or spread[-1] <= 0:
            return None
        slopes = np.linalg.lstsq(own[:-1, :-1], own[:-1, -1:], rcond=1e-9)[0]
        here = (
            self.known.scaled_columns(people) * (self.known.unit / self.released.unit)[np.newaxis]
        )
        return self._names(target.mean() + here @ slopes)

    def _names(self, predicted: Floats) -> Names:
        person = np.arange(len(predicted))
        if self.category:
            positive = np.maximum(predicted, 0.0)
            total = np.maximum(positive.sum(axis=1), 1e-12)
            best = positive.argmax(axis=1)
            return Names(person, self.levels[best], positive[person, best] / total)
        named = predicted[:, 0]
        if 2 * len(self.distinct) <= len(self.values):  # numbers of a few values: one of them
            named = self.distinct[np.abs(named[:, np.newaxis] - self.distinct).argmin(axis=1)]
        return Names(person, named, np.zeros(len(person)))

    def tree(self, people: Microdata, values: ReleasedValues, group: Integers) -> Names:
        """Return the most likely value in each person's leaf of a shallow tree."""
        target = self._target
        if not self.category:  # places, so that a few far numbers do not decide
            target = np.searchsorted(self.distinct, self.values)[:, np.newaxis].astype(np.float64)
        grown = _grow(self.released.own[self.rows], target)
        leaf = np.zeros(int(group.max()) + 1, np.int64)
        leaf[group] = grown.leaf(self.released.own)
        used = np.zeros(len(leaf), bool)
        used[group] = True
        asked, own = grown.leaf(self.released.scaled_columns(people)), np.flatnonzero(used)
        count = int(max(leaf.max(), asked.max(initial=0))) + 1
        inside = sparse.csr_array((np.ones(len(own)), (leaf[own], own)), (count, len(leaf)))
        # one name for each leaf, not for each person
        by_leaf = values.named(inside)
        starts = np.searchsorted(by_leaf.person, asked, "left")
        sizes = np.searchsorted(by_leaf.person, asked, "right") - starts
        person = np.repeat(np.arange(len(asked)), sizes)
        place = np.repeat(starts, sizes) + np.arange(len(person))
        place -= np.repeat(np.cumsum(sizes) - sizes, sizes)
        return Names(person, by_leaf.value[place], by_leaf.share[place])


class _Tree(NamedTuple):
    """Splits by number; split t leads to 2t + 1 where a column is at most a value."""

    column: dict[int, int]
    at_most: dict[int, float]

    def leaf(self, columns: Floats) -> Integers:
        """Return the number of each record's leaf."""
        place = np.zeros(len(columns), np.int64)
        for node in sorted(self.column):
            here = np.flatnonzero(place == node)
            right = columns[here, self.column[node]] > self.at_most[node]
            place[here] = 2 * node + 1 + right
        return place


def _grow(columns: Floats, target: Floats) -> _Tree:
    """Split where the sums of squares around the means fall most (Breiman and others 1984)."""
    tree = _Tree({}, {})
    waiting = [(0, np.arange(len(columns)))]
    while waiting:
        node, rows = waiting.pop()
        if len(rows) < 2 * LEAF or node >= 2**DEPTH - 1:
            continue
        found = _split(columns[rows], target[rows])
        if found is None:
            continue
        column, value = found
        left = columns[rows, column] <= value
        tree.column[node], tree.at_most[node] = column, value
        waiting += [(2 * node + 1, rows[left]), (2 * node + 2, rows[~left])]
    return tree


def _split(columns: Floats, target: Floats) -> tuple[int, float] | None:
    """Return the best column and value to split at; None if no split helps."""
    count = len(columns)
    order = np.argsort(columns, axis=0, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=0)
    sums = (target - target.mean(axis=0))[order].cumsum(axis=0)[:-1]  # (rows - 1, columns, targets)
    before = np.arange(1, count)
    gain = (sums**2).sum(axis=2) * (count / (before * (count - before)))[:, np.newaxis]
    allowed = (ordered[1:] > ordered[:-1]) & (np.minimum(before, count - before) >= LEAF)[:, None]
    gain = np.where(allowed, gain, 0.0)
    place, column = np.unravel_index(int(gain.argmax()), gain.shape)
    if gain[place, column] <= 1e-9 * (1 + (target**2).sum()):
        return None
    return int(column), float((ordered[place, column] + ordered[place + 1, column]) / 2)
