"""Name the likeliest value: how often it is right, for people of whom some rows may tell."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

DENSE = 0.2  # share of values with a mass, from which on all are looked at
EVEN = 1e-9  # relative difference of two masses that count as equal


class ReleasedValues:
    """The released values of one confidential variable, by classes of rows.

    Parameters
    ----------
    group : ndarray of int64, shape (m,)
        The number of each released row's class.
    released : ndarray of float64, shape (m,)
        Released values or level numbers, NaN where missing.
    tolerance : float
        How near a named number must come to the true one to be right, in its own unit.
    """

    def __init__(
        self, group: NDArray[np.int64], released: NDArray[np.float64], tolerance: float
    ) -> None:
        known = np.flatnonzero(~np.isnan(released))
        self.values, rank = np.unique(released[known], return_inverse=True)
        self._reach = tolerance * (1 + 1e-12)
        shape = (int(group.max()) + 1, len(self.values))
        ones = np.ones(len(known))
        self._counts = sparse.csr_array((ones, (group[known], rank)), shape=shape)

    @cached_property
    def readable(self) -> NDArray[np.float64]:
        """1 for each class with a row whose value is not missing, else 0, shape (classes,)."""
        return np.asarray(self._counts.sum(axis=1) > 0, dtype=np.float64).ravel()

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first value within reach of each value, and the first beyond."""
        return (
            np.searchsorted(self.values, self.values - self._reach, "left"),
            np.searchsorted(self.values, self.values + self._reach, "right"),
        )

    def masses(self, weights: sparse.csr_array) -> sparse.csr_array:
        """The mass of each value, shape (people, V), where a row of each class has a weight."""
        return (weights @ self._counts).tocsr()

    def majority(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(naming what most released rows say is right), shape (people,)."""
        mass = sparse.csr_array(self._counts.sum(axis=0)[np.newaxis])
        named = self.values[mass.indices[self._named(mass)[1]]]
        if not named.size:
            return np.zeros(len(truth))
        hits = np.abs(named - truth[:, np.newaxis]) <= self._reach
        return np.asarray(hits.mean(axis=1))

    def right(self, mass: sparse.csr_array, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(the value that is named is right), shape (people,).

        Parameters
        ----------
        mass : sparse array of float64, shape (people, V)
            How likely each value is to be a person's, up to a factor.
        truth : ndarray of float64, shape (people,)
            True values or level numbers, NaN where missing.

        Returns
        -------
        ndarray of float64
            The released value with most mass within reach is named; of several with as much, any.
            NaN for a person of whom nothing is known.
        """
        person, named = self._named(mass)
        person = person[named]
        hit = np.abs(self.values[mass.indices[named]] - truth[person]) <= self._reach
        hits = np.bincount(person, hit, minlength=len(truth))
        choices = np.bincount(person, minlength=len(truth))
        unknown = np.full(len(truth), np.nan)
        return np.asarray(np.divide(hits, choices, out=unknown, where=choices > 0))

    def _named(self, mass: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Whose each entry is, and whether its value has most mass within reach."""
        mass.eliminate_zeros()
        mass.sort_indices()
        counts = np.diff(mass.indptr)
        person = np.repeat(np.arange(len(counts)), counts)
        near = self._within_reach(mass, person)
        best = np.zeros(len(counts))
        some = np.flatnonzero(counts)
        if some.size:
            best[some] = np.maximum.reduceat(near, mass.indptr[:-1][some])
        return person, near >= best[person] * (1 - EVEN)

    def _within_reach(
        self, mass: sparse.csr_array, person: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The mass within reach of each entry, shape (nnz,)."""
        if self._reach == 0:
            return np.asarray(mass.data)
        if mass.nnz > DENSE * mass.shape[0] * mass.shape[1]:
            return self._within_reach_of_all(mass, person)
        width = len(self.values) + 1
        place = person * width + mass.indices
        whole = np.asarray(mass.sum(axis=1)).ravel()[person]
        below = np.concatenate(([0.0], np.cumsum(mass.data / whole)))
        low, high = (
            np.searchsorted(place, person * width + end[mass.indices]) for end in self._ends
        )
        return np.asarray(below[high] - below[low])

    def _within_reach_of_all(
        self, mass: sparse.csr_array, person: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The same where most people have a mass of most values: nothing is searched for."""
        low, high = self._ends
        below = np.zeros((mass.shape[0], mass.shape[1] + 1))
        np.cumsum(mass.toarray(), axis=1, out=below[:, 1:])
        below /= np.maximum(below[:, -1:], np.finfo(float).tiny)
        near = below.take(high, axis=1) - below.take(low, axis=1)
        return np.asarray(near[person, mass.indices])
