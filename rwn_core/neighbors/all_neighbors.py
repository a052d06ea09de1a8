"""The ranked others of every record: all pairs of a small table, or a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.kernel import Radius, RadiusAndK, check_radius_and_k
from rwn_core.neighbors.table import LARGEST_DENSE, NeighborTable, complete_table
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import current_work, work

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index

ESTIMATED = 1000  # records; their sizes say how large a table will be


def neighbor_table(
    points: Points,
    *,
    k: int | None,
    epsilon: Radius | None,
    index: Index | None = None,
    groups: Integers | None = None,
) -> NeighborTable:
    """The ranked others of every record, at least out to k and epsilon."""
    # Shapes: points (n, d); epsilon, groups (n,): records of one number leave each other out. With
    # an index, a small table is searched too.
    n = len(points)
    check_radius_and_k(k, epsilon, n)
    if index is None and n <= LARGEST_DENSE:
        table = complete_table(points)
        return table if groups is None else table.without_group(groups)
    from rwn_core.neighbors.index import build_index
    from rwn_core.neighbors.search import FEWER, TABLE, Search, check_search

    ball, allowed = RadiusAndK(k=k, epsilon=epsilon), budget_bytes()
    if index is None:
        check_search(points, 0)
        index = build_index(points, epsilon=epsilon)
    if pairs_bytes(float(n) * (n - 1)) > allowed and n > ESTIMATED:
        some = np.unique(np.linspace(0, n - 1, ESTIMATED).astype(np.int64))
        with current_work().quiet():
            sizes = Search.of_some(index, points, some, ball, groups).run().sizes
        check_fits(pairs_bytes(sizes.mean() * n), allowed, TABLE, FEWER)
    with work(memory=allowed):  # what is free now counts, not what is left halfway
        table = Search(index, ball=ball, groups=groups).table()
    current_work().report(1.0)
    return table
