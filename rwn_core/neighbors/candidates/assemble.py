"""Tables of neighbors put together from pairs, or from the tables of parts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.radius import Radius
from rwn_core.neighbors.table import NeighborTable

EVERY = float("inf")


def table_of_pairs(
    n: int,
    rows: NDArray[np.int64],
    others: NDArray[np.int64],
    squared: NDArray[np.float64],
) -> NeighborTable:
    """Rank each record's others, by the rule of `distance.rank`, in rows of unlike lengths.

    Parameters
    ----------
    n : int
    rows, others : ndarray of int64, shape (m,)
        Each pair once for each record that it serves.
    squared : ndarray of float64, shape (m,)

    Returns
    -------
    NeighborTable
        It answers for every k and epsilon, among these pairs.
    """
    order = np.lexsort((others, squared, rows))
    rows, others, squared = rows[order], others[order], squared[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (squared[1:] > squared[:-1] * (1 + TIE))
    tie = np.cumsum(new) - 1
    order = np.lexsort((others, tie))
    return NeighborTable(
        offsets=np.searchsorted(rows, np.arange(n + 1)),
        records=others[order].astype(np.int32),
        squared=squared[new][tie],
        k=n - 1,
        epsilon=EVERY,
    )


def cut_table(table: NeighborTable, k: int | None, epsilon: Radius | None) -> NeighborTable:
    """A table without the entries that k and epsilon do not need."""
    kept = table.narrow(k=k, epsilon=epsilon)
    starts = np.concatenate(([0], np.cumsum(kept.sizes)))
    entries = np.arange(starts[-1]) + np.repeat(table.offsets[:-1] - starts[:-1], kept.sizes)
    return NeighborTable(
        offsets=starts,
        records=table.records[entries],
        squared=table.squared[entries],
        k=k or 0,
        epsilon=0.0 if epsilon is None else epsilon,
    )


def table_of_parts(
    n: int, parts: Iterable[tuple[NDArray[np.int64], NeighborTable]], k: int, epsilon: Radius
) -> NeighborTable:
    """One table from those of disjoint parts.

    Parameters
    ----------
    n : int
    parts : iterable of (records, table)
        The records of a part, ascending, and their table, which numbers them from 0.
    k : int
    epsilon : float or ndarray
        How far the parts' tables go.

    Returns
    -------
    NeighborTable
    """
    kept = list(parts)
    sizes = np.zeros(n, dtype=np.int64)
    for records, table in kept:
        sizes[records] = np.diff(table.offsets)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    members = np.empty(offsets[-1], dtype=np.int32)
    squared = np.empty(offsets[-1])
    for records, table in kept:
        length = np.diff(table.offsets)
        entries = np.arange(len(table.records))
        entries += np.repeat(offsets[records] - table.offsets[:-1], length)
        members[entries] = records[table.records]
        squared[entries] = table.squared
    return NeighborTable(offsets=offsets, records=members, squared=squared, k=k, epsilon=epsilon)
