"""Neighborhoods for every position of the sliders: stored as far as they fit, else searched."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import ParameterError
from rwn_core.neighbors.brute_force import complete_table
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, check_radius_and_k, one_radius
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.source import Ball, search
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Progress, Watch, thread_count

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index

LARGEST_MEAN = 5000  # decides: neighbors of one record at a slider's end: masking all takes minutes
TABLE_BYTES = 250e6  # decides: bytes of a table that is stored for the sliders


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """Neighborhoods for every position of the sliders.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
        Of all records.
    records : ndarray of int64, shape (m,)
        The records that are shown, ascending: all of them, or random ones of a large table.
        Their neighborhoods are those of the full table either way.
    slider_range : SliderRange
        How far the sliders go.
    table : NeighborTable or None
        Row r belongs to records[r]. None where even the nearest neighbors do not fit: each
        setting is searched then.
    index : Index or None
        What searches beyond the table start from; None for a table that holds all pairs.
    """

    points: Points = field(repr=False)
    records: NDArray[np.int64] = field(repr=False)
    slider_range: SliderRange
    table: NeighborTable | None = field(repr=False)
    index: Index | None = field(repr=False)

    @property
    def shows_all(self) -> bool:
        """True if all records are shown."""
        return len(self.records) == len(self.points)

    needs_key = False

    def stores(self, ball: Ball) -> bool:
        """True if the neighborhoods of a setting are cut from the table."""
        table = self.table
        return table is not None and table.covers(k=ball.k, epsilon=self._mine(ball.epsilon))

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Cut the shown records' neighborhoods from the table, or search them beyond it."""
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        if self.table is not None and self.stores(ball):
            radius = self._mine(ball.epsilon)
            return self.table.narrow(k=ball.k, epsilon=radius, strict=ball.strict), None
        one = ball.epsilon is None or one_radius(ball.epsilon)
        if self.index is None or (self.shows_all and not one):
            return search(self.points, ball, drawing, threads=threads, progress=progress)
        from rwn_core.neighbors.lazy_table import run_search
        from rwn_core.neighbors.search import Search
        from rwn_core.neighbors.tree_search import search_of_some

        k, epsilon, strict = ball.k, ball.epsilon, ball.strict
        if self.shows_all:
            query = Search(self.index, k=k or 0, epsilon=epsilon, strict=strict)
        else:
            query = search_of_some(self.index, self.points, self.records, k, epsilon, strict=strict)
        watch = Watch(threads=thread_count(threads), progress=progress)
        return run_search(query, drawing, watch)

    def _mine(self, epsilon: Radius | None) -> Radius | None:
        """The radius of the shown records."""
        if epsilon is None or one_radius(epsilon):
            return epsilon
        return np.asarray(epsilon)[self.records]


def build_preview(
    points: Points,
    *,
    most: int = LIVE_RECORDS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Preview:
    """Store the neighbors of a table, or of random records of a large one."""
    # It may run in any thread: it lets go of the interpreter's lock.
    n = len(points)
    watch = Watch(threads=thread_count(threads), progress=progress, cancel=cancel)
    records = shown_records(n, most, seed)
    shown = len(records)
    slider_range = find_slider_range(points, STORED_PAIRS, shown, LARGEST_MEAN * shown)
    watch.report(0.0)
    table: NeighborTable | None
    index = None
    if n <= LARGEST_DENSE:
        table = complete_table(points)
    else:
        from rwn_core.neighbors.tree_search import tree_index

        index = tree_index(points, None, watch)
        watch.report(0.0)
        table = _fitting_table(index, points, records, slider_range, watch)
    watch.report(1.0)
    return Preview(
        points=points, records=records, slider_range=slider_range, table=table, index=index
    )


def shown_records(n: int, most: int, seed: int) -> NDArray[np.int64]:
    """Return the records of a table that are shown, ascending: random ones of a large one."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def _fitting_table(
    index: Index,
    points: Points,
    records: NDArray[np.int64],
    slider_range: SliderRange,
    watch: Watch,
) -> NeighborTable | None:
    """The table out to the radius that should fit, or less far, or none."""
    from rwn_core.neighbors.tree_search import search_of_some, stored_of_some, stored_table

    epsilon = slider_range.stored
    while True:
        try:
            if len(records) == len(points):
                return stored_table(points, slider_range.k, epsilon, watch, TABLE_BYTES, index)
            search = search_of_some(index, points, records, slider_range.k, epsilon)
            return stored_of_some(search, watch, TABLE_BYTES)
        except ParameterError:
            if epsilon == 0:
                return None
            epsilon = epsilon / 2 if epsilon / 2 >= slider_range.step else 0.0
