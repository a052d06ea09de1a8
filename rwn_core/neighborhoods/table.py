"""The neighbor table: each record's nearest others in rank order, stored once, cut at will."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighborhoods.ranking import TIE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborTable:
    """Every record's others out to a radius, nearest first.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Record i's others are entries offsets[i] to offsets[i + 1].
    records : ndarray of int32, shape (m,)
    squared : ndarray of float64, shape (m,)
        Squared distances, ascending within a record; tied entries carry one value.
    k : int
        Every record has at least its k nearest (and their ties) stored.
    epsilon : float
        Every record has all others within this radius stored.
    """

    offsets: NDArray[np.int64]
    records: NDArray[np.int32]
    squared: NDArray[np.float64]
    k: int
    epsilon: float

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.offsets) - 1

    def covers(self, *, k: int | None, epsilon: float | None) -> bool:
        """Whether `narrow` can answer for these parameters."""
        return (k or 0) <= self.k and (epsilon or 0.0) <= self.epsilon

    def narrow(
        self, *, k: int | None, epsilon: float | None, strict: bool = False
    ) -> Neighborhoods:
        """The neighborhoods of a smaller radius or k.

        Parameters
        ----------
        k : int, optional
            At least 1.
        epsilon : float, optional
            Radius, at least 0. At least one of the two is needed.
        strict : bool
            Leave out records at exactly the radius epsilon (the 2015 method).

        Returns
        -------
        Neighborhoods
        """
        if k is None and epsilon is None:
            raise ParameterError("Give epsilon, k or both; neither is given.")
        if not self.covers(k=k, epsilon=epsilon):
            raise ParameterError("The neighbor table does not reach as far as this k or epsilon.")
        within = np.zeros(self.n, dtype=np.int64)
        if epsilon is not None:
            reach = float(epsilon)  # whatever the number's type: the tie rule needs a float64
            edge = reach * reach * ((1 - TIE) if strict else (1 + TIE))
            within = self._count(np.full(self.n, edge), strict=strict)
        sizes, radius = within, np.full(self.n, 0.0 if epsilon is None else float(epsilon))
        if k is not None:
            kth = self.squared[self.offsets[:-1] + k - 1]
            sizes = np.maximum(within, self._count(kth * (1 + TIE)))
            radius = np.maximum(radius, np.sqrt(kth))
        return Neighborhoods(
            table=self, sizes=sizes, within=within, radius=radius, k=k, epsilon=epsilon
        )

    def _count(self, edge: NDArray[np.float64], *, strict: bool = False) -> NDArray[np.int64]:
        """How many entries of each record lie within its edge: one bisection for all."""
        low, high = self.offsets[:-1].copy(), self.offsets[1:].copy()
        last = max(len(self.squared) - 1, 0)
        for _ in range(int(np.max(high - low, initial=0)).bit_length()):
            middle = (low + high) >> 1
            value = self.squared[np.minimum(middle, last)]
            inside = (value < edge) if strict else (value <= edge)
            open_ = low < high
            low = np.where(open_ & inside, middle + 1, low)
            high = np.where(open_ & ~inside, middle, high)
        return low - self.offsets[:-1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighborhoods:
    """S_i of every record: the closed ball of radius max(epsilon, distance to the k-th nearest).

    Attributes
    ----------
    sizes : ndarray of int64, shape (n,)
        |S_i|; record i itself never counts.
    within : ndarray of int64, shape (n,)
        How many of them lie within epsilon.
    radius : ndarray of float64, shape (n,)
    k : int or None
    epsilon : float or None
    """

    table: NeighborTable
    sizes: NDArray[np.int64]
    within: NDArray[np.int64]
    radius: NDArray[np.float64]
    k: int | None
    epsilon: float | None

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.sizes)

    @property
    def nearest(self) -> NDArray[np.float64]:
        """Distance from each record to its nearest other record, shape (n,); NaN if unknown."""
        starts = self.table.offsets[:-1]
        known = self.table.offsets[1:] > starts
        distance = np.full(self.n, np.nan)
        distance[known] = np.sqrt(self.table.squared[starts[known]])
        return distance

    def members(self, record: int) -> NDArray[np.int32]:
        """The records of S_i, nearest first."""
        start = self.table.offsets[record]
        return self.table.records[start : start + self.sizes[record]]

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """All neighborhoods as compressed rows: offsets (n + 1,) and member records."""
        starts = np.concatenate(([0], np.cumsum(self.sizes)))
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], self.sizes)
        return starts, self.table.records[np.repeat(self.table.offsets[:-1], self.sizes) + within]

    def donors(self, records: NDArray[np.int64], ranks: NDArray[np.int32]) -> NDArray[np.int64]:
        """The members of the given ranks.

        Parameters
        ----------
        records : ndarray of int64, shape (m,)
        ranks : ndarray of int, shape (m, p)
            1 for the nearest; at most the record's size.

        Returns
        -------
        ndarray of int64, shape (m, p)
        """
        starts = self.table.offsets[records]
        donors = self.table.records[starts[:, None] + (ranks - 1)]
        return np.asarray(donors, dtype=np.int64)
