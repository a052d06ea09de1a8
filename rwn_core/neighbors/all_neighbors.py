"""The ranked others of every record: all pairs of a small table, or a search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.kernel import Radius, RadiusAndK, check_radius_and_k
from rwn_core.neighbors.table import LARGEST_DENSE, NeighborTable, complete_table
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import ProgressMonitor, thread_count

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index

ESTIMATED = 1000  # records; their sizes say how large a table will be


def neighbor_table(
    points: Points,
    *,
    k: int | None,
    epsilon: Radius | None,
    watch: ProgressMonitor | None = None,
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

    watch, ball = watch or ProgressMonitor(threads=thread_count()), RadiusAndK(k=k, epsilon=epsilon)
    allowed = budget_bytes(watch.budget)
    if index is None:
        check_search(points, 0, watch.budget)
        index = build_index(points, epsilon=epsilon, watch=watch)
    if pairs_bytes(float(n) * (n - 1)) > allowed and n > ESTIMATED:
        some = np.unique(np.linspace(0, n - 1, ESTIMATED).astype(np.int64))
        sizes = Search.of_some(index, points, some, ball, groups).run(ProgressMonitor()).sizes
        check_fits(pairs_bytes(sizes.mean() * n), allowed, TABLE, FEWER)
    table = Search(index, ball=ball, groups=groups).table(replace(watch, budget=allowed))
    watch.report(1.0)
    return table
