"""Neighborhoods without some others: members of one's household, and copies of a record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.find import neighbor_table
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import check_radius_and_k
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.source import Ball, NeighborSource, StoredSource, source_of_some
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Progress


def number_households(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the households, shape (n,); a missing one (-1) is a household of one record."""
    numbers = codes.astype(np.int64)
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = numbers.max(initial=-1) + 1 + np.arange(len(alone))
    return numbers


def without_household(table: NeighborTable, households: NDArray[np.int64]) -> NeighborTable:
    """The same ranks without the members of each record's own household."""
    numbers = np.arange(table.n) if table.numbers is None else table.numbers
    own = np.repeat(households[numbers], np.diff(table.offsets))
    kept = households[table.records] != own
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        table,
        offsets=before[table.offsets].astype(np.int64),
        records=table.records[kept],
        squared=table.squared[kept],
        k=max(0, table.k - _others(households)),
    )


def _others(households: NDArray[np.int64]) -> int:
    """Return the number of others in the largest household."""
    return int(np.bincount(households).max()) - 1


def outside_table(
    points: Points,
    households: NDArray[np.int64],
    ball: Ball,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> NeighborTable:
    """Every record's nearest others outside its household, at least out to k and epsilon."""
    check_outside(households, ball.k)
    check_radius_and_k(ball.k, ball.epsilon, len(points))
    far = None if ball.k is None else ball.k + _others(households)
    table = neighbor_table(
        points, k=far, epsilon=ball.epsilon, threads=threads, progress=progress, budget=budget
    )
    return without_household(table, households)


def check_outside(households: NDArray[np.int64], k: int | None) -> None:
    """Refuse a k that the largest household does not leave."""
    left = len(households) - 1 - _others(households)
    if left < max(1, k or 0):
        raise ParameterError(
            f"The largest household leaves {left:,} records outside it; choose k of at most so "
            "many, or leave out outside_household."
        )


def without_copies(table: NeighborTable, rows: NDArray[np.int64]) -> NeighborTable:
    """The neighbors of a bootstrap sample, where a record's own copies are none of them."""
    # A sample holds most of its records twice or more. Copies at distance 0 would give each other's
    # values, and the masking would seem weaker than it is on a sample from a population.
    times = np.bincount(rows, minlength=table.n)
    first = np.concatenate(([0], np.cumsum(times)))[:-1]
    lengths = np.diff(table.offsets)[rows]
    begin = np.repeat(table.offsets[rows], lengths)
    places = begin + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    others = table.records[places]
    copies = times[others]
    total = np.concatenate(([0], np.cumsum(copies)))
    within = np.arange(total[-1]) - np.repeat(total[:-1], copies)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return NeighborTable(
        offsets=total[ends],
        records=(np.repeat(first[others], copies) + within).astype(np.int32),
        squared=np.repeat(table.squared[places], copies),
        k=table.k,
        epsilon=table.epsilon,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutsideSource:
    """Finds neighborhoods outside one's household, and keeps the widest table it made.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
    households : ndarray of int64, shape (n,)
    """

    points: Points = field(repr=False)
    households: NDArray[np.int64] = field(repr=False)
    _kept: list[NeighborTable] = field(default_factory=list, repr=False)

    needs_key = False

    @property
    def records(self) -> NDArray[np.int64]:
        """All records."""
        return np.arange(len(self.points))

    def stores(self, ball: Ball) -> bool:
        """True if the table holds them; see `NeighborSource`."""
        return bool(self._kept) and self._kept[0].covers(k=ball.k, epsilon=ball.epsilon)

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Find neighborhoods; see `NeighborSource`."""
        check_outside(self.households, ball.k)
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        if not self.stores(ball):
            self.store(ball, threads=threads, progress=progress)
        return self._kept[0].narrow(k=ball.k, epsilon=ball.epsilon, strict=ball.strict), None

    def store_for_sliders(self, progress: Progress | None = None) -> SliderRange:
        """Store what a screen's sliders reach, as far as it fits, and say how far they go."""
        n = len(self.points)
        ends = find_slider_range(self.points, STORED_PAIRS)
        check_outside(self.households, None)
        ends = replace(ends, k=min(ends.k, n - 1 - _others(self.households)))
        self.store(Ball(k=ends.k, epsilon=ends.stored), progress=progress)
        return replace(ends, epsilon=ends.stored)

    def of_some(
        self, records: NDArray[np.int64], ball: Ball, *, threads: int | None = None
    ) -> NeighborSource:
        """Store the neighbors of some records out to a ball; see `source_of_some`."""
        check_outside(self.households, ball.k)
        far = replace(ball, k=None if ball.k is None else ball.k + _others(self.households))
        found = source_of_some(self.points, records, far, threads=threads)
        table = without_household(found.table, self.households)
        return StoredSource(points=self.points, table=table)

    def store(
        self,
        ball: Ball,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        budget: float | None = None,
    ) -> None:
        """Keep the table out to a ball in place of the last one."""
        self._kept[:] = [
            outside_table(
                self.points,
                self.households,
                ball,
                threads=threads,
                progress=progress,
                budget=budget,
            )
        ]
