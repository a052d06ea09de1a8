"""Expected sums over a release's records, for many settings at once: the algebra of a forecast.

Cells of different records are independent, and so are those of one record unless their
variables share a donor. Every expectation here follows from that and from the sums of each
column over the neighborhoods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.mean_of_known import depths, mean_of_known, parts
from rwn_core.evaluation.forecast.prefix_sums import prefix_sums, record_blocks
from rwn_core.neighbors.kernel import EVEN

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedSums:
    """Expectations over the release, for s settings; numbers as in `Columns`, 0 where missing.

    Attributes
    ----------
    first : ndarray, shape (s, m)
        Of the sum of each number.
    first_seen : ndarray, shape (s, m, m)
        [j, h]: of the sum of number j over the records whose number h is known.
    seen : ndarray, shape (s, m, m)
        Of the number of records that have both.
    second : ndarray, shape (s, m, m)
        Of the sum of products.
    noise : ndarray, shape (s, m, m)
        Sum over records of the covariance of two released cells; its diagonal, of the variances.
    third, fourth : ndarray, shape (s, m)
        Sums over records of the third and fourth cumulant of each released number.
    together : ndarray, shape (s, L, L)
        Of the number of records with two levels, for variables that do not share a donor; its
        diagonal, of each level's count.
    kept : ndarray, shape (s, p)
        Of the number of cells of each variable that show their own value.
    rows : ndarray, shape (s,)
        Of the number of records that show all of their own values.
    unseen : ndarray, shape (s, n)
        Logarithm of the probability that no row shows a person's key values, for who is alone with
        them, where they share a donor; shape (s, 0) where they do not, or where some rows only
        are added up.
    gap_means : ndarray, shape (s, g)
        Of the means of the g numbers that are missing somewhere; g is 0 for a large table.
    """

    first: Floats
    first_seen: Floats
    seen: Floats
    second: Floats
    noise: Floats
    third: Floats
    fourth: Floats
    together: Floats
    kept: Floats
    rows: Floats
    unseen: Floats
    gap_means: Floats


class Adder:
    """The sums of one table's columns over the neighborhoods of many settings.

    Parameters
    ----------
    columns : Columns
        n records, m numbers, L levels, p variables.
    q : ndarray of float64, shape (s, p)
        Modification probability of each variable in each setting.
    """

    def __init__(self, columns: Columns, q: Floats) -> None:
        self.columns = columns
        self.q = q
        self.pairs = columns.pairs_of(columns.positions)
        one, two = np.array(self.pairs, dtype=np.intp).reshape(-1, 2).T
        self._one, self._two = one, two
        numbers = columns.numbers
        each = [numbers, numbers**2, columns.dummies, numbers[:, one] * numbers[:, two]]
        if not columns.complete:
            each.append(columns.known)
        each += [numbers**3, numbers**4]  # last: what a few values do to the shape of a mean
        self._ends = np.cumsum([part.shape[1] for part in each])
        self._every = np.column_stack(each)
        self._gaps = columns.gaps
        self._depths: Floats = np.empty(0)

    def total(
        self,
        starts: NDArray[np.int64],
        records: NDArray[np.int32],
        sizes: NDArray[np.int64],
        which: NDArray[np.intp] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> ExpectedSums:
        """Add up all records, block by block.

        Parameters
        ----------
        starts : ndarray of int64, shape (n + 1,)
        records : ndarray of int32, shape (P,)
            Ranked neighbors, at least as many as any setting takes.
        sizes : ndarray of int64, shape (t, n)
            Different neighborhood sizes, at least 1.
        which : ndarray of int, shape (s,), optional
            Which of the sizes each setting has; each its own by default.
        progress : callable, optional
            Called with the share done, from 0 to 1. What it raises ends the work.
        """
        total: list[Floats] = []
        which = np.arange(len(sizes)) if which is None else which
        self._depths, weights = depths(len(starts) - 1)
        wide = self._every.shape[1] + 2 * self.columns.codes.shape[1]
        for first, end in record_blocks(starts, wide, len(self.q)):
            near, same = self.near(starts, records, sizes, slice(first, end))
            part = self._add(near[which], same[which], slice(first, end))
            part.append(self._unseen(starts, records, sizes[which], slice(first, end)))
            total = part if not total else [a + b for a, b in zip(total, part, strict=True)]
            if progress is not None:
                progress(end / (len(starts) - 1))
        *sums, missing, added, unseen = total
        means = [mean_of_known(*each, weights) for each in zip(missing, added, strict=True)]
        found = [*sums, unseen, np.array(means)]
        return ExpectedSums(**dict(zip(ExpectedSums.__dataclass_fields__, found, strict=True)))

    def near(
        self,
        starts: NDArray[np.int64],
        records: NDArray[np.int32],
        sizes: NDArray[np.int64],
        block: slice,
    ) -> tuple[Floats, Floats]:
        """Means over the neighborhoods of a block: of the columns, and of "has my own value".

        Returns
        -------
        near : ndarray, shape (s, b, columns)
        same : ndarray, shape (s, b, p + units of several variables)
        """
        local = starts[block.start : block.stop + 1] - starts[block.start]
        members = records[starts[block.start] : starts[block.stop]]
        codes = self.columns.codes
        equal = codes[members] == np.repeat(codes[block], np.diff(local), axis=0)
        joint = [equal[:, unit].all(axis=1) for unit in self.columns.units if len(unit) > 1]
        taken = sizes[:, block]
        if len(taken) == 1 and np.array_equal(taken[0], np.diff(local)):
            near = self._whole(members, local)[None]
            same = _sums(np.column_stack([equal, *joint]), local)[None]
        else:
            values = np.column_stack([self._every[members], equal, *joint])
            sums = prefix_sums(values, local, taken)
            near, same = np.split(sums, [self._every.shape[1]], axis=2)
        return EVEN.mean(near, taken[..., None]), EVEN.mean(same, taken[..., None])

    def _whole(self, members: NDArray[np.int32], local: NDArray[np.int64]) -> Floats:
        """Sums over all pairs of a block: a sparse product, without a number for each pair."""
        shape = (len(local) - 1, len(self._every))
        pairs = csr_array((np.ones(len(members)), members, local), shape=shape)
        return np.asarray(pairs @ self._every)

    def cells(self, near: Floats, block: slice) -> tuple[Floats, Floats]:
        """Mean and variance of every released number of a block, shape (s, b, m) each."""
        m = self._ends[0]
        own, q = self.columns.numbers[block], self.q[:, None, self.columns.positions]
        mean = (1 - q) * own + q * near[..., :m]
        spread = np.maximum(near[..., m : 2 * m] - near[..., :m] ** 2, 0.0)
        return mean, q * (1 - q) * (own - near[..., :m]) ** 2 + q * spread

    def cumulants(self, near: Floats, block: slice, q: Floats) -> tuple[Floats, Floats]:
        """Sums of the third and fourth cumulants of a block's numbers, shape (s, m) each.

        Parameters
        ----------
        near, block : see `near`
        q : ndarray of float64, shape (s, 1, m)
            The probability that a number is taken from a neighbor.
        """
        m, own = self._ends[0], self._every[block]
        left, moments = 1 - q, []
        for first in (0, m, own.shape[1] - 2 * m, own.shape[1] - m):
            columns = slice(first, first + m)
            moments.append(left * own[:, columns] + q * near[..., columns])
        a, b, c, d = moments
        square = a * a
        third = c - a * (3 * b - 2 * square)
        fourth = d - 4 * a * c - 3 * b * b + 6 * square * (2 * b - square)
        return third.sum(axis=1), fourth.sum(axis=1)

    def _add(self, near: Floats, same: Floats, block: slice) -> list[Floats]:
        mean, variance = self.cells(near, block)
        noise = _diagonal(variance.sum(axis=1))
        self._share_donors(noise, near, block)
        turned = mean.transpose(0, 2, 1)
        known = self._known(near, block)
        levels = self._levels(near, block)
        return [
            mean.sum(axis=1),
            turned @ known,
            known.transpose(0, 2, 1) @ known,
            turned @ mean + noise,
            noise,
            *self.cumulants(near, block, self.q[:, None, self.columns.positions]),
            _counts(levels),
            *self._intact(same),
            *parts(known[..., self._gaps], mean[..., self._gaps], self._depths),
        ]

    def _known(self, near: Floats, block: slice) -> Floats:
        own, q = self.columns.known[block], self.q[:, None, self.columns.positions]
        if self.columns.complete:
            return np.broadcast_to(own, (len(q), *own.shape))
        return np.asarray((1 - q) * own + q * near[..., self._ends[3] : self._ends[4]])

    def _levels(self, near: Floats, block: slice) -> Floats:
        own, q = self.columns.dummies[block], self.q[:, None, self.columns.dummy_positions]
        return np.asarray((1 - q) * own + q * near[..., self._ends[1] : self._ends[2]])

    def _share_donors(self, noise: Floats, near: Floats, block: slice) -> None:
        """Add the covariance of the cells that one donor gives together."""
        if not self.pairs:
            return
        one, two, own = self._one, self._two, self.columns.numbers[block]
        q = self.q[:, None, self.columns.positions[one]]
        apart = (own[:, one] - near[..., one]) * (own[:, two] - near[..., two])
        jointly = near[..., self._ends[2] : self._ends[3]] - near[..., one] * near[..., two]
        shared = (q * (1 - q) * apart + q * jointly).sum(axis=1)
        noise[:, one, two] += shared
        noise[:, two, one] += shared

    def _unseen(
        self,
        starts: NDArray[np.int64],
        records: NDArray[np.int32],
        sizes: NDArray[np.int64],
        block: slice,
    ) -> Floats:
        """Each person's sum over a block's rows of log P(the row shows another's), shape (s, n)."""
        n = len(self.columns.codes)
        if self.columns.key < 0 or len(starts) - 1 < n:
            return np.empty((len(sizes), 0))
        lengths = np.diff(starts[block.start : block.stop + 1])
        first, end = starts[block.start], starts[block.stop]
        rank = np.arange(first, end) - np.repeat(starts[block], lengths)
        sums = np.zeros((len(sizes), n))
        q = self.q[:, self.columns.key, None]
        with np.errstate(divide="ignore"):  # of a row that surely shows them
            chances = np.log1p(-EVEN.mean(q, sizes[:, block]))
            sums[:, block] = np.log(q)  # one's own row
        for setting, taken in enumerate(sizes[:, block]):
            inside = np.flatnonzero(rank < np.repeat(taken, lengths))
            weights = np.repeat(chances[setting], taken)
            sums[setting] += np.bincount(records[first:end][inside], weights, n)
        return sums

    def _intact(self, same: Floats) -> list[Floats]:
        p = self.q.shape[1]
        q = self.q[:, None, :]
        kept = (1 - q) + q * same[..., :p]
        rows, joint = np.ones(same.shape[:2]), p
        for unit in self.columns.units:
            if len(unit) == 1:
                rows = rows * kept[..., unit[0]]
            else:
                share = self.q[:, None, unit[0]]
                rows = rows * ((1 - share) + share * same[..., joint])
                joint += 1
        return [kept.sum(axis=1), rows.sum(axis=1)]


def _sums(equal: NDArray[np.bool_], local: NDArray[np.int64]) -> Floats:
    """How many pairs of each record agree, shape (b, columns); no record is without a pair."""
    return np.add.reduceat(equal, local[:-1], axis=0, dtype=np.float64)


def _diagonal(values: Floats) -> Floats:
    made = np.zeros((*values.shape, values.shape[-1]))
    positions = np.arange(values.shape[-1])
    made[:, positions, positions] = values
    return made


def _counts(levels: Floats) -> Floats:
    """Expected counts of two levels together; of one level on the diagonal."""
    together = levels.transpose(0, 2, 1) @ levels
    positions = np.arange(levels.shape[-1])
    together[:, positions, positions] = levels.sum(axis=1)
    return np.asarray(together)
