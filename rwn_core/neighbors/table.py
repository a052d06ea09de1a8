"""The neighbor table: each record's nearest others in rank order, stored once, cut at will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.errors import ParameterError
from rwn_core.moved_names import MovedAttribute
from rwn_core.neighbors.distance import TIE, Points, rank, squared_distances
from rwn_core.neighbors.kernel import EVEN, Kernel, Radius, radius_values

if TYPE_CHECKING:
    from scipy import sparse

# decides: records up to which all pairs are held at once by numpy; the app draws larger tables
# less often
LARGEST_DENSE = 2000
BLOCK_PAIRS = 2_000_000  # pairs that are ranked at a time


class Members(Protocol):
    """The ranked others of every record: see `NeighborTable`, where they are stored."""

    @property
    def offsets(self) -> Integers:
        """Starts of the rows and the end of the last one."""

    @property
    def records(self) -> Integers32:
        """The others, nearest first; searched for first where they are not stored."""

    @property
    def squared(self) -> Floats:
        """Their squared distances, shape (m,); likewise."""

    @property
    def numbers(self) -> Integers | None:
        """The records that the rows belong to; None where they are all records."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborTable:
    """The others of every record out to a radius, nearest first.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Record i's others are entries offsets[i] to offsets[i + 1].
    records : ndarray of int32, shape (m,)
    squared : ndarray of float64, shape (m,)
        Squared distances, ascending within a record; tied entries carry one value.
    k : int
        Every record has at least its k nearest (and their ties) stored.
    epsilon : float or ndarray of float64, shape (n,)
        Every record has all others within this radius, or within its own, stored.
    numbers : ndarray of int64, shape (n,), or None
        The records that the rows belong to, ascending, where they are some of a larger table.
    """

    offsets: Integers
    records: Integers32
    squared: Floats
    k: int = 0
    epsilon: Radius = 0.0
    numbers: Integers | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    def covers(self, *, k: int | None, epsilon: Radius | None) -> bool:
        """True if `cut` can answer for these parameters."""
        asked = 0.0 if epsilon is None else radius_values(epsilon)
        return (k or 0) <= self.k and bool(np.all(asked <= radius_values(self.epsilon)))

    def cut(self, *, k: int | None, epsilon: Radius | None, strict: bool = False) -> Neighborhoods:
        """The neighborhoods of a smaller radius or k."""
        # Shapes: epsilon (n,).
        if k is None and epsilon is None:
            raise ParameterError("Give epsilon, k or both; neither is given.")
        if not self.covers(k=k, epsilon=epsilon):
            raise ParameterError("The neighbor table does not reach as far as this k or epsilon.")
        edges = np.full(self.n, -1.0)
        radius = np.zeros(self.n)
        if epsilon is not None:
            asked = radius_values(epsilon)
            edges[:] = asked * asked * ((1 - TIE) if strict else (1 + TIE))
            radius[:] = asked
        # entries within each edge, in all, and the squared distance of the k-th
        from rwn_core.neighbors.draw_kernel import cut_rows

        within, sizes, kth = cut_rows(self.offsets, self.squared, edges, strict, k or 0)
        reach = np.maximum(radius, np.sqrt(kth))
        return Neighborhoods(
            table=self, sizes=sizes, within=within, radius=reach, k=k, epsilon=epsilon
        )

    def part(self, starts: Integers, lengths: Integers) -> tuple[NeighborTable, Integers]:
        """Return a table of a number of entries from each start on, and which entries they are."""
        entries = ranges(starts, lengths)
        rows = replace(
            self,
            offsets=np.concatenate(([0], np.cumsum(lengths))),
            records=self.records[entries],
            squared=self.squared[entries],
        )
        return rows, entries

    def for_records(self, records: Integers) -> tuple[NeighborTable, Integers]:
        """Return the rows of some records of a table of all, and their entries in it."""
        starts = self.offsets[:-1][records]
        lengths = np.diff(self.offsets)[records]
        rows, entries = self.part(starts, lengths)
        return replace(rows, numbers=records), entries

    @classmethod
    def joined(cls, parts: Sequence[NeighborTable]) -> NeighborTable:
        """Return the table of all records from those of some, in the order of the records."""
        order = np.argsort(np.concatenate([part.numbers for part in parts]))
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        together = replace(
            parts[0],
            records=np.concatenate([part.records for part in parts]),
            squared=np.concatenate([part.squared for part in parts]),
            numbers=None,
        )
        starts = np.cumsum(lengths) - lengths
        return together.part(starts[order], lengths[order])[0]

    @classmethod
    def ranked(cls, n: int, rows: Integers, others: Integers, squared: Floats) -> NeighborTable:
        """Return the table of some pairs, ranked by the rule of `distance.rank`."""
        order = np.lexsort((others, squared, rows))
        rows = rows[order]
        others = others[order]
        squared = squared[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]) | (squared[1:] > squared[:-1] * (1 + TIE))
        tie = np.cumsum(new) - 1
        order = np.lexsort((others, tie))
        return cls(
            offsets=np.searchsorted(rows, np.arange(n + 1)),
            records=others[order].astype(np.int32),
            squared=squared[new][tie],
            k=n - 1,
            epsilon=float("inf"),
        )

    def with_own(self) -> NeighborTable:
        """The same rows with each record first in its own row."""
        numbers = np.arange(self.n) if self.numbers is None else self.numbers
        starts = self.offsets[:-1]
        return replace(
            self,
            offsets=self.offsets + np.arange(self.n + 1),
            records=np.insert(self.records, starts, numbers.astype(np.int32)),
            squared=np.insert(self.squared, starts, 0.0),
        )

    def without_group(self, groups: Integers) -> NeighborTable:
        """The same ranks without the records of each record's own group."""
        # Shapes: groups (n,) of all records, such as their households.
        numbers = np.arange(self.n) if self.numbers is None else self.numbers
        own = np.repeat(groups[numbers], np.diff(self.offsets))
        retained = groups[self.records] != own
        return replace(
            self,
            offsets=np.concatenate(([0], np.cumsum(retained)))[self.offsets].astype(np.int64),
            records=self.records[retained],
            squared=self.squared[retained],
            k=max(0, self.k - int(np.bincount(groups).max()) + 1),
        )

    def without_copies(self, rows: Integers) -> NeighborTable:
        """The neighbors of a bootstrap sample, where a record's own copies are none of them."""
        # A sample holds most of its records twice or more. Copies at distance 0 would give each
        # other's values, and masking would seem weaker than on a sample from a population.
        times = np.bincount(rows, minlength=self.n)
        first = np.concatenate(([0], np.cumsum(times)))[:-1]
        mine, _ = self.for_records(rows)
        copies = times[mine.records]
        return replace(
            self,
            offsets=np.concatenate(([0], np.cumsum(copies)))[mine.offsets],
            records=ranges(first[mine.records], copies).astype(np.int32),
            squared=np.repeat(mine.squared, copies),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighborhoods:
    """The S_i of all records: the closed balls of radius max(epsilon, k-th nearest distance).

    Attributes
    ----------
    sizes : ndarray of int64, shape (n,)
        |S_i|; record i itself never counts.
    within : ndarray of int64, shape (n,)
        How many of them lie within epsilon.
    radius : ndarray of float64, shape (n,)
    k : int or None
    epsilon : float, ndarray of float64 of shape (n,), or None
    table : Members
        Holds the members; where they are not stored, asking for them searches.
    first : ndarray of float64, shape (n,), or None
        Squared distance to the nearest member, where the table does not hold it yet.
    kernel : Kernel
        How likely each member is to be the donor.
    shares : ndarray of float64, shape (m,), or None
        P(each entry of the table is the donor), where all are members and not equally likely.
    imbalance : float
        Largest difference of the sum of P(a record is the donor) from its target; NaN without one.
    effective : ndarray of float64, shape (n,), or None
        The `effective_sizes`, where `shares` are not stored.
    """

    table: Members
    sizes: Integers
    within: Integers
    radius: Floats
    k: int | None = None
    epsilon: Radius | None = None
    first: Floats | None = field(default=None, repr=False)
    kernel: Kernel = EVEN
    shares: Floats | None = field(default=None, repr=False)
    imbalance: float = float("nan")
    effective: Floats | None = field(default=None, repr=False)

    donors = MovedAttribute("rwn_core.draw_donors")

    @property
    def n(self) -> int:
        """Number of rows: of records, unless they are some of a larger table."""
        return len(self.sizes)

    def rows(self, records: Integers) -> Integers:
        """The rows of some records."""
        numbers = self.table.numbers
        return records if numbers is None else np.searchsorted(numbers, records)

    @property
    def equally_likely(self) -> bool:
        """True if all members of a record are equally likely to be the donor."""
        return self.shares is None and self.effective is None

    @property
    def nearest(self) -> Floats:
        """Distance from each record to its nearest other record, shape (n,); NaN if unknown."""
        if self.first is not None:
            return np.sqrt(self.first)
        starts = self.table.offsets[:-1]
        known = self.table.offsets[1:] > starts
        distance = np.full(self.n, np.nan)
        distance[known] = np.sqrt(self.table.squared[starts[known]])
        return distance

    @property
    def is_stored(self) -> bool:
        """True if the members are stored; else they are searched for first."""
        return bool(getattr(self.table, "is_stored", True))  # but for a `SearchedTable`

    def members(self, record: int) -> Integers32:
        """The records of S_i, nearest first."""
        if self.effective is not None:
            return self.table.ranked_row(record)[0]  # type: ignore[attr-defined,no-any-return]
        start = self.table.offsets[record]
        return self.table.records[start : start + self.sizes[record]]

    def weights(self, record: int) -> Floats:
        """Return the weights of the records of S_i, nearest first."""
        # Shape: (s,), s being the size of the neighborhood.
        if self.effective is not None:
            return self.table.ranked_row(record)[1]  # type: ignore[attr-defined,no-any-return]
        start = self.table.offsets[record]
        if self.shares is not None:
            return self.shares[start : start + self.sizes[record]]
        return np.ones(self.sizes[record])

    @property
    def total(self) -> Floats:
        """The total weight of each record's members, shape (n,); 1 where there are none."""
        return self.kernel.totals(self.sizes) if self.equally_likely else np.ones(self.n)

    @property
    def effective_sizes(self) -> NDArray[np.float64 | np.int64]:
        """Return the number of equally likely donors that hide as much, shape (n,): 1 / sum w^2."""
        if self.shares is None:
            return self.sizes if self.effective is None else self.effective
        return np.asarray(1.0 / np.add.reduceat(self.shares**2, self.table.offsets[:-1]))

    @property
    def largest_own_weight(self) -> float | None:
        """Return the largest weight of a record as its own donor; None where unknown or none is."""
        if not self.kernel.own or self.shares is None:
            return None
        return float(self.shares[self.table.offsets[:-1]].max())  # it stands first in its row

    def probabilities(self) -> sparse.csr_array:
        """Return P(each record is the donor of a modified cell of each), shape (n, n)."""
        from scipy import sparse

        starts, records = self.pairs()
        if self.shares is not None:
            return sparse.csr_array((self.shares, records, starts), shape=(self.n, self.n))
        share = np.repeat(self.kernel.mean(1.0, self.sizes), self.sizes)
        return sparse.csr_array((share, records, starts), shape=(self.n, self.n))

    def pairs(self) -> tuple[Integers, Integers32]:
        """All neighborhoods as compressed rows: offsets (n + 1,) and member records."""
        starts = np.concatenate(([0], np.cumsum(self.sizes)))
        if starts[-1] == self.table.offsets[-1]:
            return starts, self.table.records
        return starts, self.table.records[ranges(self.table.offsets[:-1], self.sizes)]


def ranges(starts: Integers, lengths: Integers) -> Integers:
    """Return the numbers from each start on, as many as each length says."""
    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def complete_table(points: Points) -> NeighborTable:
    """Return every record's distances to all others, ranked."""
    n = len(points)
    squared = np.empty((n, n - 1))
    records = np.empty((n, n - 1), dtype=np.int32)
    everyone = np.arange(n)
    for start in range(0, n, max(1, BLOCK_PAIRS // n)):
        rows = everyone[start : start + max(1, BLOCK_PAIRS // n)]
        others = np.broadcast_to(np.arange(n - 1), (len(rows), n - 1))
        others = others + (others >= rows[:, None])  # self is left out by number
        near, found = rank(squared_distances(points, rows[:, None], others), others)
        squared[rows], records[rows] = near, found
    return NeighborTable(
        offsets=np.arange(n + 1) * (n - 1),
        records=records.ravel(),
        squared=squared.ravel(),
        k=n - 1,
        epsilon=float("inf"),
    )
