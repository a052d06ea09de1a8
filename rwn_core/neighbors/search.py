"""Searches an index: sizes, nearest distances and donors at once, or a table of neighbors."""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.neighbors.distance import TIE, Points
from rwn_core.neighbors.draw_kernel import STORE, SearchRequest, SearchResult
from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.kernel import RadiusAndK, radius_values
from rwn_core.neighbors.record_draws import DrawRequest
from rwn_core.neighbors.search_kernel import search
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes, search_bytes
from rwn_core.parallel.threads import current_work

FEWER = 'take a smaller epsilon or k, or neighbors="sample" or "partition"'
TABLE = "The table of neighbors"


class Search:
    """The records of one index among those of another, or of the same.

    Parameters
    ----------
    target : Index
        Where members come from.
    query : Index, optional
        Records with searched neighborhoods; the target itself by default. Same frame.
    ball : RadiusAndK
        With a radius for each query record, the query index must keep records of unlike radii
        apart.
    own : ndarray of int32, shape (n,), optional
        Which of the target's records each query record is, -1 for none; found by their numbers
        when left out.
    groups : ndarray of int64, shape (N,), optional
        By the number of a record: those of one group leave each other out.
    """

    def __init__(
        self,
        target: Index,
        query: Index | None = None,
        *,
        ball: RadiusAndK,
        own: Integers32 | None = None,
        groups: Integers | None = None,
    ) -> None:
        self.target = target
        self.query = target if query is None else query
        self.k = ball.k or 0
        self.epsilon = ball.epsilon
        self.groups = groups
        numbers = target.side.numbers
        mine = self.query.side.numbers
        side = self.query.side
        # which record of the target each query record is
        if own is None:
            rows = np.minimum(np.searchsorted(numbers, mine), target.n - 1)
            own = np.where((numbers[rows] == mine) & (groups is None), rows, -1).astype(np.int32)
        self.own = own
        # how far the radius of each query row goes, squared
        self.edges = np.full(self.query.rows, -1.0)
        if self.epsilon is not None:
            radius = np.broadcast_to(radius_values(self.epsilon), self.query.n)
            each = radius[side.records[side.offsets[:-1]]]
            self.edges = each * each * (1 + TIE)
            if ball.strict:  # the kernel takes what is at the edge in
                self.edges = np.nextafter(each * each * (1 - TIE), -1.0)

    def request(self, drawing: DrawRequest | None) -> SearchRequest:
        """Return the parameters of the search, with draws or without."""
        streams = np.array([] if drawing is None else drawing.streams, dtype=np.int64)
        groups = np.empty(0, np.int64) if self.groups is None else self.groups
        some = self.groups is not None
        return SearchRequest(
            query=self.query.querying,
            target=self.target.side,
            own=self.own,
            edges=self.edges,
            k=self.k,
            groups=groups[self.target.side.numbers] if some else groups,
            own_group=groups[self.query.side.numbers] if some else groups,
            others=int(np.bincount(groups).max()) - 1 if some else 0,
            unit=self.target.frame.rotations[0].unit,
            key=np.zeros(8, np.uint32) if drawing is None else drawing.key.words,
            streams=streams,
            q=np.zeros(0) if drawing is None else np.array(drawing.q, dtype=np.float64),
        )

    @property
    def numbers(self) -> Integers | None:
        """Return the records with neighborhoods; None for all records of the table."""
        return self.query.side.numbers if self.query.n < self.target.n else None

    @classmethod
    def of_some(
        cls,
        index: Index,
        points: Points,
        records: Integers,
        ball: RadiusAndK,
        groups: Integers | None = None,
    ) -> Search:
        """Return the search for the neighborhoods of a few records in the full table."""
        # Shapes: points (n, d); records (m,); groups (n,).
        ball = ball.of_records(records)
        query = build_index(
            points[records], numbers=records, epsilon=ball.epsilon, frame=index.frame
        )
        return cls(index, query, ball=ball, groups=groups)

    def run(self, drawing: DrawRequest | None = None, known: Sizes | None = None) -> SearchResult:
        """Find sizes and nearest distances, and draw donors if asked to, in one pass."""
        # Sizes that are known are not counted again, and nearest distances are not found.
        request = self.request(drawing)
        n = self.query.n
        result = SearchResult(
            within=np.zeros(n, np.int64),
            sizes=np.zeros(n, np.int64),
            nearest=np.full(n, np.nan),
            kth=np.zeros(n),
            donors=np.empty((n if drawing else 0, len(request.streams)), np.int64),
        )
        if known is not None:
            return result._replace(**known._asdict())
        current_work().run(partial(search, request, result), self.query.leaves)
        return result

    def neighborhoods(
        self, drawing: DrawRequest | None = None, known: Sizes | None = None
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods without their members, and donors if asked to, in one pass."""
        result = self.run(drawing, known)
        radius = 0.0 if self.epsilon is None else radius_values(self.epsilon)
        found = Neighborhoods(
            table=SearchedTable(self, result),
            sizes=result.sizes,
            within=result.within,
            radius=np.maximum(radius, np.sqrt(result.kth)),
            k=self.k or None,
            epsilon=self.epsilon,
            first=result.nearest,
        )
        return found, None if drawing is None or known is not None else result.donors

    def table(self, found: SearchResult | None = None) -> NeighborTable:
        """Store the members, once their sizes are found."""
        watch = current_work()
        allowed = budget_bytes()
        check_fits(pairs_bytes(float(self.query.n * self.k)), allowed, TABLE, FEWER)
        with watch.part(0.0, 0.5):
            result = self.run() if found is None else found
        check_fits(pairs_bytes(float(result.sizes.sum())), allowed, TABLE, FEWER)
        with watch.part(0.0 if found else 0.5, 1.0):
            table = self.fill(result)
        members = table.members
        numbers = self.target.side.numbers
        if len(numbers) and numbers[-1] != len(numbers) - 1:
            members = numbers.astype(np.int32)[members]
        return NeighborTable(
            offsets=table.starts,
            records=members,
            squared=table.squared,
            k=self.k,
            epsilon=0.0 if self.epsilon is None else self.epsilon,
            numbers=self.numbers,
        )

    def fill(self, result: SearchResult) -> SearchResult:
        """The members of every record, in rank order, for the sizes that `run` gave."""
        starts = np.concatenate(([0], np.cumsum(result.sizes)))
        table = result._replace(
            starts=starts,
            members=np.empty(starts[-1], np.int32),
            squared=np.empty(starts[-1]),
            sink=STORE,
        )
        request = self.request(None)
        side = self.query.side
        if self.k:  # how far the k-th nearest are is known
            farthest = np.maximum.reduceat(result.kth[side.records], side.offsets[:-1])
            request = request._replace(k=0, edges=np.maximum(self.edges, farthest))
        current_work().run(partial(search, request, table), self.query.leaves)
        return table


class SearchedTable:
    """A neighbor table of known sizes, stored on first use of its members.

    Attributes
    ----------
    search : Search
    result : SearchResult
        Its sizes and distances.
    numbers : ndarray of int64, shape (n,), or None
        As in `NeighborTable`.
    """

    def __init__(self, search: Search, result: SearchResult) -> None:
        self.search, self.result = search, result
        self.numbers = search.numbers

    @cached_property
    def stored(self) -> NeighborTable:
        """The table itself."""
        with current_work().quiet():  # it is asked for in the midst of other work
            return self.search.table(self.result)

    @property
    def offsets(self) -> Integers:
        """As in `NeighborTable`."""
        return self.stored.offsets

    @property
    def records(self) -> Integers32:
        """As in `NeighborTable`."""
        return self.stored.records

    @property
    def squared(self) -> Floats:
        """As in `NeighborTable`."""
        # Shapes: (m,).
        return self.stored.squared

    @property
    def is_stored(self) -> bool:
        """True if members can be read without a search."""
        return "stored" in self.__dict__


def check_search(points: Points, columns: int) -> None:
    """Refuse a search that does not fit into memory."""
    needed = search_bytes(len(points), points.shape[1], columns)
    check_fits(needed, budget_bytes(), "Searching this table", "take a sample of its records")


class Sizes(NamedTuple):
    """The sizes that a search has found, without members and nearest distances."""

    within: Integers  # shape (n,)
    sizes: Integers  # shape (n,)
    # shape (n,): squared distance to the k-th nearest where k governs, else 0
    kth: Floats


def known_sizes(neighborhoods: Neighborhoods) -> Sizes | None:
    """Return the sizes of the neighborhoods of all records; None for some records."""
    table = neighborhoods.table
    k = neighborhoods.k or 0
    if table.numbers is not None:
        return None
    if isinstance(table, SearchedTable):
        return Sizes(neighborhoods.within, neighborhoods.sizes, table.result.kth)
    if not isinstance(table, NeighborTable):
        return None
    short = neighborhoods.within < k
    last = np.minimum(table.offsets[:-1] + k, table.offsets[1:]) - 1
    kth = np.where(short, table.squared[np.maximum(last, 0)], 0.0)
    return Sizes(neighborhoods.within, neighborhoods.sizes, kth)
