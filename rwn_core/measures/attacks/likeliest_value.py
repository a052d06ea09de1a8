"""Most likely value of people with posteriors over some rows, and how often it is right."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.measures.attacks.confidential_value import Tolerance

EVEN = 1e-9  # relative difference of two masses that count as equal


class Names(NamedTuple):
    """Values that an intruder names of people, shape (names,) each; several of one are tied.

    Attributes
    ----------
    person : ndarray of int64
        Ascending.
    value : ndarray of float64
        The value or level number.
    share : ndarray of float64
        Posterior probability that the true value is within tolerance.
    """

    person: Integers
    value: Floats
    share: Floats

    def right(self, truth: Floats, near: Tolerance) -> Floats:
        """Return P(the named value is right), shape (people,); NaN if no value is named."""
        hits = np.bincount(self.person, near.right(self.value, truth[self.person]), len(truth))
        choices = np.bincount(self.person, minlength=len(truth))
        unknown = np.full(len(truth), np.nan)
        return np.asarray(np.divide(hits, choices, out=unknown, where=choices > 0))


class ReleasedValues:
    """Released values of one confidential variable, by classes of rows.

    Parameters
    ----------
    group : ndarray of int64, shape (m,)
        Class of each released row.
    released : ndarray of float64, shape (m,)
        Values or level numbers, NaN where missing.
    near : Tolerance
    levels : int, optional
        Number of levels; None for a number.

    Attributes
    ----------
    copied : bool
        True if values come from donors, by a law that does not depend on the values.
    """

    copied = True

    def __init__(
        self, group: Integers, released: Floats, near: Tolerance, levels: int | None = None
    ) -> None:
        known = np.flatnonzero(~np.isnan(released))
        self.near, self.levels = near, levels
        self.values, rank = np.unique(released[known], return_inverse=True)
        shape = (int(group.max()) + 1, len(self.values))
        ones = np.ones(len(known))
        self._counts = sparse.csr_array((ones, (group[known], rank)), shape=shape)
        self._held = _entries(self._counts)

    @cached_property
    def readable(self) -> Floats:
        """Return 1 for each class with a row that has a value, else 0, shape (classes,)."""
        return np.asarray(self._counts.sum(axis=1) > 0, dtype=np.float64).ravel()

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
        most = self.named(sparse.csr_array(np.ones((1, self._counts.shape[0])))).value[:1]
        person = np.concatenate((names.person, others))
        value = np.concatenate((names.value, np.repeat(most, len(others))))
        share = np.concatenate((names.share, np.ones(len(others))))
        order = np.argsort(person, kind="stable")
        return Names(person[order], value[order], share[order])

    def majority(self, truth: Floats) -> Floats:
        """Return P(naming the most frequent released value is right), shape (people,)."""
        everything = sparse.csr_array(np.ones((1, self._counts.shape[0])))
        named = self.named(everything).value
        if not named.size:
            return np.zeros(len(truth))
        return np.asarray(self.near.right(named, truth[:, np.newaxis]).mean(axis=1))

    def named(self, weights: sparse.csr_array) -> Names:
        """Return the value with most mass within tolerance, by weights (people, classes)."""
        from rwn_core.measures.attacks.named_values_kernel import likeliest

        starts, classes, shares = entries = _entries(weights)
        person, value = likeliest(starts, classes, shares, self._held, self._ends, EVEN)
        return Names(person, self.values[value], self._shares(entries, person, value))

    def _shares(
        self, entries: tuple[Integers, Integers, Floats], person: Integers, value: Integers
    ) -> Floats:
        """Return the share of a person's mass within tolerance of the first named value."""
        starts, classes, shares = entries
        if not person.size:
            return np.empty(0)
        people = len(starts) - 1
        named = np.full(people, -1)
        named[person[::-1]] = value[::-1]
        begins, ranks, counts = self._held
        sizes = np.diff(begins)[classes]
        owner = np.repeat(np.arange(people), np.diff(starts))
        if sizes.size and sizes.min() == sizes.max() == 1:  # as where all keys differ
            at, mass = begins[classes], shares
        else:
            owner, mass = np.repeat(owner, sizes), np.repeat(shares, sizes)
            inner = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            at = np.repeat(begins[classes], sizes) + inner
        mass, rank = mass * counts[at], ranks[at]
        first, beyond = self._ends
        asked = named[owner]
        inside = (rank >= first[asked]) & (rank < beyond[asked])
        total = np.bincount(owner, mass, people)
        near = np.bincount(owner, np.where(inside, mass, 0.0), people)
        return np.asarray((near / np.where(total > 0, total, 1.0))[person])


def _entries(rows: sparse.csr_array) -> tuple[Integers, Integers, Floats]:
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data
