"""A source finds neighborhoods for many settings: it searches, or it cuts a stored table."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.sizes import LISTED_PAIRS, LIVE_RECORDS
from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates import Scheme, restricted_table
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.find import find_and_draw, neighbor_table
from rwn_core.neighbors.kernel import Radius, RadiusAndK, check_radius_and_k, one_radius
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable, complete_table
from rwn_core.parallel.memory import pairs_bytes
from rwn_core.parallel.threads import Progress, ProgressMonitor, thread_count

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index

TABLE_BYTES = 2 * pairs_bytes(STORED_PAIRS)  # of a table that has more than were expected


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborSource(ABC):
    """Finds the neighborhoods of records, in one metric."""

    points: Points = field(repr=False)  # shape (n, d): of all records

    @property
    def records(self) -> Integers:
        """The records with neighborhoods, ascending, shape (m,)."""
        return np.arange(len(self.points))

    @property
    def needs_key(self) -> bool:
        """True if neighborhoods depend on the key, so that they cannot be stored."""
        return False

    def stores(self, ball: RadiusAndK) -> bool:
        """True if these neighborhoods are found in milliseconds."""
        return False

    @abstractmethod
    def find(
        self,
        ball: RadiusAndK,
        drawing: DrawRequest | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods and, where it is the same work, draw donors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchSource(NeighborSource):
    """Searches anew for each setting."""

    # Which records may be neighbors. Random candidates depend on the key.
    scheme: Scheme = field(default_factory=Scheme)

    @property
    def needs_key(self) -> bool:
        """True if candidates are random."""
        return not self.scheme.exact

    def find(
        self,
        ball: RadiusAndK,
        drawing: DrawRequest | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods; see `NeighborSource`."""
        if self.scheme.exact:
            return find_and_draw(self.points, ball, drawing, threads=threads, progress=progress)
        if drawing is None:
            raise ParameterError(
                f"neighbors={self.scheme.neighbors} depends on the key; draw a release with one."
            )
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        watch = ProgressMonitor(threads=thread_count(threads), progress=progress)
        table = restricted_table(self.points, ball, self.scheme, drawing.key, watch)
        return table.cut(k=ball.k, epsilon=ball.epsilon, strict=ball.strict), None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredSource(NeighborSource):
    """Cuts a stored table of ranked neighbors; beyond it, it searches."""

    # Of all records, or of some of them. None where even the nearest neighbors do not fit: each
    # setting is searched then.
    table: NeighborTable | None = field(repr=False)
    index: Index | None = field(default=None, repr=False)  # what a search starts from
    # shape (m,): the records with neighborhoods, ascending; None for those of the table. Their
    # neighborhoods are those of the full table either way.
    shown: Integers | None = field(default=None, repr=False)
    slider_range: SliderRange | None = None  # how far the sliders of a screen go

    @property
    def records(self) -> Integers:
        """The records with neighborhoods."""
        numbers = self.table.numbers if self.shown is None and self.table else self.shown
        return np.arange(len(self.points)) if numbers is None else numbers

    def stores(self, ball: RadiusAndK) -> bool:
        """True if the table holds them."""
        table = self.table
        return table is not None and table.covers(k=ball.k, epsilon=self._own(ball.epsilon))

    def find(
        self,
        ball: RadiusAndK,
        drawing: DrawRequest | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods; see `NeighborSource`."""
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        table, index, every = self.table, self.index, len(self.records) == len(self.points)
        if table is not None and (self.stores(ball) or (index is None and not every)):
            own = self._own(ball.epsilon)
            return table.cut(k=ball.k, epsilon=own, strict=ball.strict), None
        one = ball.epsilon is None or one_radius(ball.epsilon)
        if index is None or (every and not one):
            return find_and_draw(self.points, ball, drawing, threads=threads, progress=progress)
        from rwn_core.neighbors.search import Search

        k, epsilon, strict = ball.k, ball.epsilon, ball.strict
        if every:
            query = Search(index, k=k or 0, epsilon=epsilon, strict=strict)
        else:
            query = Search.of_some(index, self.points, self.records, k, epsilon, strict=strict)
        return query.neighborhoods(
            ProgressMonitor(threads=thread_count(threads), progress=progress), drawing
        )

    def _own(self, epsilon: Radius | None) -> Radius | None:
        """Return the radius of the records with neighborhoods."""
        if epsilon is None or one_radius(epsilon):
            return epsilon
        return np.asarray(epsilon)[self.records]


def stored_source(
    points: Points, ball: RadiusAndK, *, threads: int | None = None, budget: float | None = None
) -> NeighborSource:
    """Store the neighbors of every record out to a ball; where they do not fit, search instead."""
    # Shapes: points (n, d).
    try:
        table = neighbor_table(
            points,
            k=None if ball.k is None else min(ball.k, len(points) - 1),
            epsilon=ball.epsilon,
            watch=ProgressMonitor(threads=thread_count(threads)),
            budget=budget,
        )
    except ParameterError:
        return SearchSource(points=points)
    return StoredSource(points=points, table=table)


def source_of_some(
    points: Points, records: Integers, ball: RadiusAndK, *, threads: int | None = None
) -> StoredSource:
    """Store the neighbors of some records among all of a large table, out to a ball."""
    # Shapes: points (n, d); records (m,).
    from rwn_core.neighbors.index import build_index
    from rwn_core.neighbors.search import Search

    of_some = Search.of_some(build_index(points), points, records, ball.k, ball.epsilon)
    table = of_some.table(ProgressMonitor(threads=thread_count(threads)))
    return StoredSource(points=points, table=table)


def build_preview(
    points: Points,
    *,
    most: int = LIVE_RECORDS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> StoredSource:
    """Store the neighbors of a table, or of random records of a large one, for the sliders."""
    # It may run in any thread: it lets go of the interpreter's lock.
    n = len(points)
    watch = ProgressMonitor(threads=thread_count(threads), progress=progress, cancel=cancel)
    records = shown_records(n, most, seed)
    rows = len(records)
    slider_range = find_slider_range(points, STORED_PAIRS, rows, LISTED_PAIRS)
    watch.report(0.0)
    table: NeighborTable | None
    index = None
    if n <= LARGEST_DENSE:
        table = complete_table(points)
    else:
        from rwn_core.neighbors.index import build_index

        index = build_index(points, watch=watch)
        watch.report(0.0)
        table = _fitting_table(index, points, records, slider_range, watch)
    watch.report(1.0)
    return StoredSource(
        points=points, table=table, index=index, shown=records, slider_range=slider_range
    )


def shown_records(n: int, most: int, seed: int) -> Integers:
    """Return the records of a live picture, ascending: all, or random ones of a large table."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def _fitting_table(
    index: Index,
    points: Points,
    records: Integers,
    slider_range: SliderRange,
    watch: ProgressMonitor,
) -> NeighborTable | None:
    """The table out to the radius that should fit, or less far, or none."""
    from rwn_core.neighbors.search import Search

    k, epsilon = slider_range.k, slider_range.stored
    while True:
        try:
            if len(records) == len(points):
                return neighbor_table(
                    points, k=k, epsilon=epsilon, watch=watch, budget=TABLE_BYTES, index=index
                )
            some = Search.of_some(index, points, records, k, epsilon)
            return some.table(watch, TABLE_BYTES)
        except ParameterError:
            if epsilon == 0:
                return None
            epsilon = epsilon / 2 if epsilon / 2 >= slider_range.step else 0.0
