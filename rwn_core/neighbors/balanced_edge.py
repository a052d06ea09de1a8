"""Balanced neighborhoods of a radius and k: every record gives equally often.

A record is then a member of each neighborhood that holds it or that it holds, and one of its own
donors. So which pairs may exchange values is symmetric and holds every record with itself, and each
such pair lies in a permutation of the records: exactly one matrix of weights r_i r_l has rows and
columns that sum to 1, unless the cap is in the way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.neighbors.all_donors import balanced_weights
from rwn_core.neighbors.compressed_rows import KernelRows
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import entries_back, list_both_ways
from rwn_core.neighbors.table import Neighborhoods, NeighborTable

FEWEST_SHARES = 2.0  # a donor may weigh so many even shares of the smallest neighborhood, at least


def balanced_neighborhoods(
    found: Neighborhoods, kernel: Kernel, some: Integers | None = None
) -> Neighborhoods:
    """Return neighborhoods of all records, balanced; or the rows of some records."""
    # Shape: some (m,).
    assert isinstance(found.table, NeighborTable)
    table = _both_ways(found.table, found.sizes)
    nearest = table.squared[table.offsets[:-1]]
    table = table.with_own()
    sizes = np.diff(table.offsets)
    cap = max(kernel.cap, min(1.0, FEWEST_SHARES / int(sizes.min())))
    rows = KernelRows(table.offsets, table.records, np.zeros(len(table.records)))
    weighed = balanced_weights(rows, cap, float(kernel.balance))
    shares = weighed.weights
    radius = found.radius
    within = found.within
    if some is not None:
        table, entries = table.for_records(some)
        shares = shares[entries]
        nearest = nearest[some]
        radius = radius[some]
        within = within[some]
    return Neighborhoods(
        table=table,
        sizes=np.diff(table.offsets),
        within=within,
        radius=radius,
        k=found.k,
        epsilon=found.epsilon,
        first=nearest,
        kernel=replace(kernel, cap=cap),
        shares=shares,
        imbalance=weighed.error,
    )


def _both_ways(table: NeighborTable, sizes: Integers) -> NeighborTable:
    """Return the pairs of which one is a member of the other's neighborhood, in the same ranks."""
    # Shape: sizes (n,).
    complete = len(table.records) == table.n * (table.n - 1)
    if not complete:
        members, _ = table.part(table.offsets[:-1], sizes)
        return list_both_ways(members, entries_back(members), np.empty(0), 0).table
    edge = table.squared[table.offsets[:-1] + sizes - 1]
    return _within(table, edge * (1 + TIE))


def _within(table: NeighborTable, edge: Floats) -> NeighborTable:
    """Return the entries within the edge of their row's record or of the one listed."""
    # Shape: edge (n,).
    row = np.repeat(np.arange(table.n), np.diff(table.offsets))
    kept = table.squared <= np.maximum(edge[row], edge[table.records])
    return replace(
        table,
        offsets=np.concatenate(([0], np.cumsum(kept)))[table.offsets].astype(np.int64),
        records=table.records[kept],
        squared=table.squared[kept],
    )
