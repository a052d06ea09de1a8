"""Neighborhoods outside one's household."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.errors import ParameterError
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.find import neighbor_table
from rwn_core.neighbors.kernel import RadiusAndK, check_radius_and_k
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.source import NeighborSource, source_of_some
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Progress, ProgressMonitor, thread_count


def _others(households: Integers) -> int:
    """Return the number of others in the largest household."""
    return int(np.bincount(households).max()) - 1


def check_outside(households: Integers, k: int | None) -> None:
    """Refuse a k that the largest household does not leave."""
    left = len(households) - 1 - _others(households)
    if left < max(1, k or 0):
        raise ParameterError(
            f"The largest household leaves {left:,} records outside it; choose k of at most so "
            "many, or leave out outside_household."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutsideSource(NeighborSource):
    """Finds neighborhoods outside one's household, and keeps the widest table it made."""

    households: Integers = field(repr=False)  # shape (n,)
    _tables: list[NeighborTable] = field(default_factory=list, repr=False)

    def stores(self, ball: RadiusAndK) -> bool:
        """True if the table holds them; see `NeighborSource`."""
        return bool(self._tables) and self._tables[0].covers(k=ball.k, epsilon=ball.epsilon)

    def find(
        self,
        ball: RadiusAndK,
        drawing: DrawRequest | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods; see `NeighborSource`."""
        if not self.stores(ball):
            self.store(ball, threads=threads, progress=progress)
        return self._tables[0].cut(k=ball.k, epsilon=ball.epsilon, strict=ball.strict), None

    def store_for_sliders(self, progress: Progress | None = None) -> SliderRange:
        """Store what a screen's sliders reach, as far as it fits, and say how far they go."""
        n = len(self.points)
        ends = find_slider_range(self.points, STORED_PAIRS)
        check_outside(self.households, None)
        ends = replace(ends, k=min(ends.k, n - 1 - _others(self.households)))
        self.store(RadiusAndK(k=ends.k, epsilon=ends.stored), progress=progress)
        return replace(ends, epsilon=ends.stored)

    def of_some(
        self, records: Integers, ball: RadiusAndK, *, threads: int | None = None
    ) -> NeighborSource:
        """Store the neighbors of some records out to a ball; see `source_of_some`."""
        check_outside(self.households, ball.k)
        far = replace(ball, k=None if ball.k is None else ball.k + _others(self.households))
        found = source_of_some(self.points, records, far, threads=threads)
        assert found.table is not None  # as of any stored source of some
        return replace(found, table=found.table.without_household(self.households))

    def store(
        self,
        ball: RadiusAndK,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        budget: float | None = None,
    ) -> None:
        """Keep the table out to a ball in place of the last one."""
        check_outside(self.households, ball.k)
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        table = neighbor_table(
            self.points,
            k=None if ball.k is None else ball.k + _others(self.households),
            epsilon=ball.epsilon,
            watch=ProgressMonitor(threads=thread_count(threads), progress=progress),
            budget=budget,
        )
        self._tables[:] = [table.without_household(self.households)]
