"""Neighborhoods of all records of a large table: rows of weights, made when they are needed.

Balanced weights: every record is drawn equally often, and no weight is above the cap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32, Words
from rwn_core.errors import NotApplicable
from rwn_core.neighbors.compressed_rows import KernelRows
from rwn_core.neighbors.distance import Points, point_values, rank, squared_to_all
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.table import Neighborhoods
from rwn_core.parallel.threads import current_work, in_parts

STOP = 1e-7  # largest difference of a column's sum from its target at which rounds end
MOST_ROUNDS = 400
DAMPED_ROUNDS = 5  # before Newton's steps are tried
NEWTON_ROUNDS, LARGEST_STEP, CUTS = 60, 3.0, 6


class RowWeights(NamedTuple):
    """The weights min(cap, e^row K e^column), with rows that sum to 1."""

    # row, column: shape (n,): logarithms of the factors; with the kernel they are all that weights
    # need
    row: Floats
    column: Floats
    weights: Floats  # shape (m,)
    error: float  # largest difference of a column's sum from its target
    rounds: int


def row_weights(rows: KernelRows, cap: float, column: Floats) -> RowWeights:
    """Return weights with rows of sum 1, for given columns' factors of all records."""
    # Shape: column (n,).
    row, weights = _filled(rows, column, np.full(len(rows.starts) - 1, cap))
    return RowWeights(row, column, weights, np.nan, 0)


def balanced_weights(rows: KernelRows, cap: float, share: float = 1.0) -> RowWeights:
    """Return weights with columns that sum to 1, or approach it by a share."""
    from rwn_core.neighbors.weight_kernel import fill_log

    n = len(rows.starts) - 1
    fully = share >= 1
    targets = np.ones(n)
    column = np.zeros(n)
    caps = np.full(n, cap)
    logs = np.zeros(n)
    if not fully:
        free = row_weights(rows, cap, np.zeros(n))
        if share <= 0:
            return free
        targets = (1 - share) * column_sums(rows, free.weights) + share
        fill_log(targets, logs)
    for rounds in range(1, MOST_ROUNDS + 1):
        row, weights = _filled(rows, column, caps)
        error = float(np.abs(column_sums(rows, weights) - targets).max())
        if error <= STOP or rounds == MOST_ROUNDS:
            break
        if not fully:  # rows are scaled to 1 and columns to their targets by turns
            column = _filled(rows, row, cap / targets)[0] + logs  # the kernel is symmetric
            continue
        # damped rounds, and Newton's steps where they help
        column = (row + column) / 2
        if rounds >= DAMPED_ROUNDS:
            column = _newton(rows, column, cap, weights)
    return RowWeights(row, column, weights, error, rounds)


def balanced_both_ways(rows: KernelRows, columns: KernelRows, cap: float) -> RowWeights:
    """Return weights of a kernel with rows that sum to 1 and columns that have equal sums.

    `columns` holds the kernel of `rows` turned: the rows of each record.
    """
    from rwn_core.neighbors.weight_kernel import ROUNDING, FreeSums, fill_log, solve_newton

    m = len(columns.starts) - 1
    n = len(rows.starts) - 1
    target = n / m
    column = np.zeros(m)
    step = np.empty(m)
    even = np.zeros(1)
    fill_log(np.array([target]), even)
    caps, own_caps = np.full(n, cap), np.full(m, cap / target)
    row, weights = _filled(rows, column, caps)
    for rounds in range(1, MOST_ROUNDS + 1):
        missing = target - column_sums(rows, weights, m)
        error = float(np.abs(missing).max())
        if error <= STOP:
            break
        # a step of Newton's method, with rows at 1, where it helps; else columns and rows by turns
        better = False
        if rounds > DAMPED_ROUNDS and error <= 0.9:
            free = np.where(weights < cap * (1 - ROUNDING), weights, 0.0)
            of_rows = np.maximum(np.add.reduceat(free, rows.starts[:-1]), 1e-300)
            sums = FreeSums(of_rows, column_sums(rows, free, m))
            accuracy = min(0.1, np.sqrt(error))
            if sums.of_columns.min() >= 1e-8:
                solve_newton(rows, free, sums, missing, accuracy, NEWTON_ROUNDS, step)
                size = min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
                for tried in (column + size / 3.0**cut * step for cut in range(CUTS)):
                    row, weights = _filled(rows, tried, caps)
                    left = target - column_sums(rows, weights, m)
                    squares = [np.cumsum(x**2)[-1] for x in (left, missing)]
                    if better := bool(squares[0] < squares[1]):
                        column = tried
                        break
        if not better:
            column = _filled(columns, row, own_caps)[0] + even
            row, weights = _filled(rows, column, caps)
    return RowWeights(row, column, weights, error, rounds)


def column_sums(rows: KernelRows, weights: Floats, columns: int = 0) -> Floats:
    """Return the sums of columns, as many as rows where nothing is said, shape (columns,)."""
    from rwn_core.neighbors.weight_kernel import add_columns

    totals = np.zeros(columns or len(rows.starts) - 1)
    add_columns(rows, weights, totals)
    return totals


def _filled(rows: KernelRows, column: Floats, caps: Floats) -> tuple[Floats, Floats]:
    # Shapes: column, caps (n,); the answer (n,) and (m,).
    from rwn_core.neighbors.weight_kernel import fill_rows

    row, weights = np.empty(len(caps)), np.empty(len(rows.members))
    in_parts(partial(fill_rows, rows, column, caps, row, weights), len(row), len(weights))
    return row, weights


def _newton(rows: KernelRows, column: Floats, cap: float, room: Floats) -> Floats:
    """Return the factors after a step of Newton's method; as they were where it does not help."""
    # Shapes: column, the answer (n,); room (m,), overwritten.
    from rwn_core.neighbors.weight_kernel import (
        BelowTheCap,
        FreeSums,
        solve_newton,
        weigh_both_ways,
    )

    n = len(column)
    free, totals, step = np.empty(n), np.empty(n), np.empty(n)

    def look(tried: Floats) -> float:
        """Return the distance of sums from 1, added in their order."""
        # Shape: tried (n,).
        weigh = partial(weigh_both_ways, rows, tried, cap, BelowTheCap(room, free, totals))
        in_parts(weigh, n, len(room))
        return float(np.cumsum((totals - 1) ** 2)[-1])

    before = look(column)
    largest = float(np.abs(totals - 1).max())
    if free.min() < 1e-8 or largest > 0.9:
        return column
    accuracy = min(0.1, np.sqrt(largest))
    sums = FreeSums(np.empty(0), free)
    solve_newton(rows, room, sums, 1 - totals, accuracy, NEWTON_ROUNDS, step)
    size = min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
    for _ in range(CUTS):
        tried = column + size * step
        if look(tried) < before:
            return tried
        size /= 3
    return column


BLOCK_WEIGHTS = 4_000_000  # weights held at a time


class Places(NamedTuple):
    """The records by the point that they lie on; those of one point have the same weights."""

    points: Points  # shape (u, d): all different
    number: Integers  # shape (n,): the point of each record


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AllDonors:
    """The weights of all records of a table, of which no pair is stored."""

    places: Places = field(repr=False)  # of all records
    kernel: Kernel  # one that `weighs_all`
    # shape (m,): the records that have rows, ascending; None for all
    numbers: Integers | None = field(default=None, repr=False)

    @classmethod
    def of_points(
        cls, points: Points, kernel: Kernel, numbers: Integers | None = None
    ) -> AllDonors:
        """Return the table of all records, or the rows of some of them."""
        values = point_values(points)
        _, first, number = np.unique(values, axis=0, return_index=True, return_inverse=True)
        places = Places(points[first], number.ravel().astype(np.int64))
        return cls(places=places, kernel=kernel, numbers=numbers)

    @property
    def donors(self) -> int:
        """Number of records of the table."""
        return len(self.places.number)

    @property
    def offsets(self) -> Integers:
        """As in `NeighborTable`."""
        rows = self.donors if self.numbers is None else len(self.numbers)
        return np.arange(rows + 1) * self.donors

    @property
    def records(self) -> Integers32:
        """Refuse what needs all pairs."""
        raise _too_many(self.donors)

    @property
    def squared(self) -> Floats:
        """Refuse what needs all pairs."""
        # Shapes: (m,).
        raise _too_many(self.donors)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of points, few enough for rows of weights of a block."""
        step = max(1, BLOCK_WEIGHTS // self.donors)
        count = len(self.places.points)
        for low in range(0, count, step):
            yield low, min(low + step, count)

    def rows(self, low: int, high: int) -> tuple[Floats, Floats]:
        """Return the weights of all records for some points, shape (b, n), and their factors."""
        weights, factors = np.empty((high - low, self.donors)), np.empty(high - low)

        def fill(first: int, last: int) -> None:
            for place, squared in self.squared_from(np.arange(low + first, low + last)):
                factors[place - low] = self._fill(squared[self.places.number], weights[place - low])

        current_work().quiet().run(fill, high - low)
        return weights, factors

    def squared_from(self, some: Integers) -> Iterator[tuple[int, Floats]]:
        """Yield each of some points with its squared distances to all points, shape (u,)."""
        return zip(some.tolist(), squared_to_all(self.places.points, some), strict=True)

    def _fill(self, squared: Floats, weights: Floats) -> float:
        """Write one row of weights and return the logarithm of its factor."""
        from rwn_core.neighbors.weight_kernel import fill_rows

        n = len(squared)
        factor = np.empty(1)
        same = np.zeros(1, np.int32)
        logs = self.kernel.logs(self.kernel.scaled(squared, np.ones(1)))
        cap = np.full(1, float(self.kernel.cap))
        rows = KernelRows(np.array([0, n]), np.broadcast_to(same, n).copy(), logs)
        fill_rows(rows, np.zeros(1), cap, factor, weights, 0, 1)
        return float(factor[0])

    def neighborhoods(self) -> Neighborhoods:
        """Return the neighborhoods, in which all records weigh."""
        every = self.places.number
        number = every if self.numbers is None else every[self.numbers]
        shown = np.unique(number)
        u = len(self.places.points)
        n = self.donors
        effective, nearest, farthest = np.zeros(u), np.zeros(u), np.zeros(u)
        alone = np.bincount(every, minlength=u) == 1

        def look(low: int, high: int) -> None:
            weights = np.empty(n)
            for point, squared in self.squared_from(shown[low:high]):
                self._fill(squared[every], weights)
                effective[point] = 1.0 / float(weights @ weights)
                nearest[point] = np.partition(squared, 1)[1] if alone[point] else 0.0
                farthest[point] = squared.max()

        current_work().run(look, len(shown))
        sizes = np.full(len(number), n, np.int64)
        return Neighborhoods(
            table=self,
            sizes=sizes,
            within=sizes,
            radius=np.sqrt(farthest)[number],
            first=nearest[number],
            kernel=self.kernel,
            effective=effective[number],
        )

    def ranked_row(self, record: int) -> tuple[Integers32, Floats]:
        """Return all records by their distance from one, itself first, and their weights."""
        number = self.places.number[record : record + 1]
        squared = next(self.squared_from(number))[1][self.places.number]
        near, members = rank(squared, np.arange(self.donors))
        weights = np.empty(self.donors)
        self._fill(near, weights)
        own = members == record
        return np.append(record, members[~own]).astype(np.int32), weights

    def draw(self, keys: Words, records: Integers, streams: Integers, q: Floats) -> Integers:
        """Draw the donors of some records by layers, as `draw_rows` does, shape (m, p)."""
        # Shapes: keys (1, 8) or (m, 8); records (m,); streams, q (p,).
        from rwn_core.neighbors.draw_kernel import draw_rows

        n = self.donors
        donors = np.empty((len(records), len(streams)), np.int64)
        number = self.places.number[records]
        order = np.argsort(number, kind="stable")
        points = np.unique(number)
        ends = np.append(np.searchsorted(number[order], points), len(records))

        def work(low: int, high: int) -> None:
            for place, (_, squared) in enumerate(self.squared_from(points[low:high]), low):
                some = order[ends[place] : ends[place + 1]]
                own = records[some]
                each = keys[some] if len(keys) > 1 else keys
                # by ranks that are the same for all records of one point, below 0: no record
                near, members = rank(squared[self.places.number], np.arange(n))
                weights, drawn = np.empty(n), np.empty((len(own), len(streams)), np.int64)
                self._fill(near, weights)
                ranks = -1 - np.arange(n, dtype=np.int32)
                rows = np.zeros(len(own), np.int64)
                table = (np.array([n]), np.array([0, n]), ranks, weights)
                draw_rows(each, own, streams, q, rows, *table, drawn, 0, len(own))
                # a record's own comes first among those at distance 0
                first = np.maximum(-1 - drawn, 0)
                identical = int((near == 0).sum())
                before = np.searchsorted(members[:identical], own)[:, None]
                shifted = np.where(first <= before, first - 1, first)
                found = np.where(first == 0, own[:, None], members[shifted])
                donors[some] = np.where(drawn >= 0, drawn, found)

        current_work().quiet().run(work, len(points))
        return donors


def _too_many(n: int) -> NotApplicable:
    return NotApplicable(
        f"This needs the probabilities of all pairs of {n:,} records, which are donors of each "
        "other; choose bandwidth = adaptive, with which the nearest are."
    )
