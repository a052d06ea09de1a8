"""Searches the neighbors of large tables by the compiled kernels, and stores them if they fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.draw_kernel import SearchResult
from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes, search_bytes
from rwn_core.parallel.threads import Progress, Watch, thread_count

FEWER = 'take a smaller epsilon or k, or neighbors="sample" or "partition"'
_TABLE = "The table of neighbors"
ESTIMATED = 1000  # records whose sizes say how large a table will be


def tree_index(points: Points, epsilon: Radius | None, watch: Watch | None = None) -> Index:
    """Build the index of a table; records may have radii of their own."""
    apart = None if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)
    return build_index(points, apart=apart, watch=watch)


def tree_table(
    points: Points,
    k: int,
    epsilon: Radius,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> NeighborTable:
    """Every record's others within max(epsilon, distance to the k-th nearest), ranked."""
    watch = Watch(threads=thread_count(threads), progress=progress)
    return stored_table(points, k, epsilon, watch, budget)


def stored_table(
    points: Points,
    k: int | None,
    epsilon: Radius | None,
    watch: Watch,
    budget: float | None = None,
    index: Index | None = None,
) -> NeighborTable:
    """`tree_table` under a watch that may cancel it, perhaps with an index that is there."""
    allowed = budget_bytes(budget)
    if index is None:
        needed = search_bytes(len(points), points.shape[1], 0)
        check_fits(needed, allowed, "Searching this table", FEWER)
        index = tree_index(points, epsilon, watch)
    _check_estimate(index, points, k or 0, epsilon, allowed)
    table = store(Search(index, k=k or 0, epsilon=epsilon), watch, allowed)
    watch.report(1.0)
    return table


def store(search: Search, watch: Watch, budget: float | None) -> NeighborTable:
    """Store the members that a search finds; in one pass where k alone decides on them."""
    check_fits(pairs_bytes(float(search.query.n * search.k)), budget_bytes(budget), _TABLE, FEWER)
    result, complete = search.stored(watch.part(0.0, 0.5))
    if complete:
        return _table(search, result)
    return fill_table(search, result, watch.part(0.5, 1.0), budget)


def fill_table(
    search: Search, result: SearchResult, watch: Watch, budget: float | None
) -> NeighborTable:
    """Store the members that a search has counted."""
    pairs = float(result.sizes.sum())
    check_fits(pairs_bytes(pairs), budget_bytes(budget), _TABLE, FEWER)
    return _table(search, search.fill(result, watch))


def _table(search: Search, table: SearchResult) -> NeighborTable:
    return NeighborTable(
        offsets=table.starts,
        records=_numbered(search, table.members),
        squared=table.squared,
        k=search.k,
        epsilon=0.0 if search.epsilon is None else search.epsilon,
    )


def _numbered(search: Search, members: NDArray[np.int32]) -> NDArray[np.int32]:
    """Members by their numbers in the whole table."""
    numbers = search.target.side.numbers
    if len(numbers) and numbers[-1] == len(numbers) - 1:
        return members
    return numbers.astype(np.int32)[members]


def table_among(
    points: Points,
    candidates: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    watch: Watch,
) -> NeighborTable:
    """Every record's others among some candidates, ranked."""
    apart = None if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)
    query = build_index(points, apart=apart)
    target = build_index(points[candidates], numbers=candidates, frame=query.frame)
    return store(Search(target, query, k=k or 0, epsilon=epsilon), watch, None)


def neighborhoods_of_some(
    index: Index,
    points: Points,
    records: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    watch: Watch,
) -> NeighborTable:
    """The ranked others of a few records in the full table."""
    return stored_of_some(search_of_some(index, points, records, k, epsilon), watch)


def search_of_some(
    index: Index,
    points: Points,
    records: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    *,
    strict: bool = False,
) -> Search:
    """The search for the neighborhoods of a few records in the full table."""
    query, mine = _query_index(index, points, records, epsilon)
    return Search(index, query, k=k or 0, epsilon=mine, strict=strict)


def stored_of_some(search: Search, watch: Watch, budget: float | None = None) -> NeighborTable:
    """Return the members that a search of some records finds, as a table."""
    return replace(store(search, watch, budget), numbers=search.query.side.numbers)


def _query_index(
    index: Index,
    points: Points,
    records: NDArray[np.int64],
    epsilon: Radius | None,
) -> tuple[Index, Radius | None]:
    """Some records made ready for a search of an index, and their radius."""
    if epsilon is None or one_radius(epsilon):
        return build_index(points[records], numbers=records, frame=index.frame), epsilon
    mine = np.asarray(epsilon)[records]
    return build_index(points[records], numbers=records, apart=mine, frame=index.frame), mine


def _check_estimate(
    index: Index,
    points: Points,
    k: int,
    epsilon: Radius | None,
    allowed: float,
) -> None:
    """Refuse a table that will not fit, from the sizes of some records."""
    n = len(points)
    if pairs_bytes(float(n) * (n - 1)) <= allowed or n <= ESTIMATED:
        return
    some = np.unique(np.linspace(0, n - 1, ESTIMATED).astype(np.int64))
    query, radius = _query_index(index, points, some, epsilon)
    sizes = Search(index, query, k=k, epsilon=radius).run(Watch()).sizes
    check_fits(pairs_bytes(sizes.mean() * n), allowed, _TABLE, FEWER)
