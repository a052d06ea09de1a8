"""Searching an index: sizes, nearest distances and donors at once, or a table of neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.draw_kernel import (
    DRAW,
    NEAREST,
    STORE,
    SearchRequest,
    SearchResult,
)
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.index import Index
from rwn_core.neighbors.radius import Radius, radius_values
from rwn_core.neighbors.search_kernel import search
from rwn_core.parallel.threads import Watch


class Search:
    """The records of one index among those of another, or of the same.

    Parameters
    ----------
    target : Index
        Where members come from.
    query : Index, optional
        Whose neighborhoods are asked for; the target itself by default. Same frame.
    k : int
        0 for none.
    epsilon : float or ndarray of float64, shape (n,), or None
        A radius for all query records, or one for each. Then the query index must keep records
        of unlike radii apart.
    strict : bool
        Leave out records at exactly the radius epsilon.
    own : ndarray of int32, shape (n,), optional
        Which of the target's records each query record is, -1 for none; found by their numbers
        when left out.
    """

    def __init__(
        self,
        target: Index,
        query: Index | None = None,
        *,
        k: int,
        epsilon: Radius | None,
        strict: bool = False,
        own: NDArray[np.int32] | None = None,
    ) -> None:
        self.target = target
        self.query = target if query is None else query
        self.k, self.epsilon, self.strict = k, epsilon, strict
        self.own = _same_records(self.query, target) if own is None else own
        self.edges = self._edges()

    def _edges(self) -> NDArray[np.float64]:
        if self.epsilon is None:
            return np.full(self.query.rows, -1.0)
        side = self.query.side
        radius = np.broadcast_to(radius_values(self.epsilon), self.query.n)
        each = radius[side.records[side.offsets[:-1]]]
        if self.strict:  # the kernel takes what is at the edge in
            below: NDArray[np.float64] = np.nextafter(each * each * (1 - TIE), -1.0)
            return below
        edges: NDArray[np.float64] = each * each * (1 + TIE)
        return edges

    def request(self, drawing: Drawing | None) -> SearchRequest:
        """Return the parameters of the search, with draws or without."""
        streams = np.array([] if drawing is None else drawing.streams, dtype=np.int64)
        return SearchRequest(
            own=self.own,
            edges=self.edges,
            k=self.k,
            unit=self.target.frame.unit,
            key=np.zeros(8, np.uint32) if drawing is None else drawing.key.words,
            streams=streams,
            q=np.zeros(0) if drawing is None else np.array(drawing.q, dtype=np.float64),
        )

    def run(self, watch: Watch, drawing: Drawing | None = None) -> SearchResult:
        """Find sizes and nearest distances, and draw donors if asked to, in one pass."""
        request, rows = self.request(drawing), self.query.n if drawing else 0
        result = self._room(0)._replace(donors=np.empty((rows, len(request.streams)), np.int64))
        self.write(request, result, DRAW, watch)
        return result

    def stored(self, watch: Watch) -> tuple[SearchResult, bool]:
        """Find sizes and, where k alone decides them, members too; True if they are complete."""
        # The first k in rank order are stored; where others tie with the last, they are missing.
        if not self.k or (self.edges > 0).any():
            return self.run(watch), False
        result = self._room(self.k)
        self.write(self.request(None), result, NEAREST, watch)
        return result, bool((result.sizes == self.k).all())

    def _room(self, members: int) -> SearchResult:
        """Allocate the results of all query records, with so many members of each."""
        n = self.query.n
        return SearchResult(
            within=np.zeros(n, np.int64),
            sizes=np.zeros(n, np.int64),
            nearest=np.full(n, np.nan),
            kth=np.zeros(n),
            donors=np.empty((0, 0), np.int64),
            starts=members * np.arange(n + 1),
            members=np.empty(n * members, np.int32),
            squared=np.empty(n * members),
        )

    def fill(self, result: SearchResult, watch: Watch) -> SearchResult:
        """The members of every record, in rank order, for the sizes that `run` gave."""
        starts = np.concatenate(([0], np.cumsum(result.sizes)))
        table = result._replace(
            starts=starts,
            members=np.empty(starts[-1], np.int32),
            squared=np.empty(starts[-1]),
        )
        self.write(self._out_to(result.kth), table, STORE, watch)
        return table

    def _out_to(self, kth: NDArray[np.float64]) -> SearchRequest:
        """Return the parameters of a search that knows how far the k-th nearest are."""
        request, side = self.request(None), self.query.side
        if not self.k:
            return request
        farthest = np.maximum.reduceat(kth[side.records], side.offsets[:-1])
        return request._replace(k=0, edges=np.maximum(self.edges, farthest))

    def write(self, request: SearchRequest, result: SearchResult, sink: int, watch: Watch) -> None:
        """Search for all query records, and write what a sink writes."""
        query, target = self.query.querying, self.target.side

        def work(first: int, last: int) -> None:
            search(query, target, request, result, sink, first, last)

        watch.run(work, self.query.leaves)


def _same_records(query: Index, target: Index) -> NDArray[np.int32]:
    """The target's record of the same number, for each query record; -1 for none."""
    if query is target:
        return np.arange(query.n, dtype=np.int32)
    rows = np.searchsorted(target.side.numbers, query.side.numbers)
    rows = np.minimum(rows, target.n - 1)
    same = target.side.numbers[rows] == query.side.numbers
    return np.where(same, rows, -1).astype(np.int32)
