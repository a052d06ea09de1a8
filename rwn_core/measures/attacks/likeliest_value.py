"""Name the likeliest value: how often it is right, for people of whom some rows may tell."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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

    def majority(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(naming what most released rows say is right), shape (people,)."""
        everything = sparse.csr_array(np.ones((1, self._counts.shape[0])))
        named = self.values[self._likeliest(everything)[1]]
        if not named.size:
            return np.zeros(len(truth))
        hits = np.abs(named - truth[:, np.newaxis]) <= self._reach
        return np.asarray(hits.mean(axis=1))

    def right(self, weights: sparse.csr_array, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(the value that is named is right), shape (people,).

        Parameters
        ----------
        weights : sparse array of float64, shape (people, classes)
            How likely a row of each class shows a person's value, up to a factor.
        truth : ndarray of float64, shape (people,)
            True values or level numbers, NaN where missing.

        Returns
        -------
        ndarray of float64
            The released value with most mass within reach is named; of several with as much, any.
            NaN for a person of whom nothing is known.
        """
        person, value = self._likeliest(weights)
        hit = np.abs(self.values[value] - truth[person]) <= self._reach
        hits = np.bincount(person, hit, minlength=len(truth))
        choices = np.bincount(person, minlength=len(truth))
        unknown = np.full(len(truth), np.nan)
        return np.asarray(np.divide(hits, choices, out=unknown, where=choices > 0))

    def _likeliest(self, weights: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Who a value is named of, and the number of that value; several of one are as likely."""
        from rwn_core.neighbors.kernels.named_values import likeliest

        starts, classes, shares = _entries(weights)
        held = _entries(self._counts)
        return likeliest(starts, classes, shares, held, self._ends, EVEN)


def _entries(
    rows: sparse.csr_array,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data
