"""A slider move: cutting a stored table of neighbors anew, and reading donors from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.parallel.jit import jit_entry, jit_internal


@jit_internal
def _entries_within(
    squared: NDArray[np.float64], start: int, stop: int, edge: float, strict: bool
) -> int:
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if squared[middle] < edge or (squared[middle] == edge and not strict):
            low = middle + 1
        else:
            high = middle
    return low - start


@jit_entry
def cut_rows(
    offsets: NDArray[np.int64],
    squared: NDArray[np.float64],
    edges: NDArray[np.float64],
    strict: bool,
    k: int,
    within: NDArray[np.int64],
    sizes: NDArray[np.int64],
    kth: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Count the entries of rows `first` to `last` - 1 that a radius or k admits.

    Parameters
    ----------
    offsets, squared : ndarray
        Of the table.
    edges : ndarray of float64, shape (n,)
        Largest squared distance of each row; negative for none.
    strict : bool
        Leave out what lies at the edge itself.
    k : int
        0 for none. A row with fewer entries is taken whole.
    within, sizes : ndarray of int64, shape (n,)
        Filled: entries within the edge, and in all.
    kth : ndarray of float64, shape (n,)
        Filled: the squared distance of the k-th entry where k governs, else 0.
    first, last : int
    """
    for row in range(first, last):
        start, stop = offsets[row], offsets[row + 1]
        inside = _entries_within(squared, start, stop, edges[row], strict)
        within[row] = sizes[row] = inside
        kth[row] = 0.0
        needed = min(k, stop - start)
        if inside < needed:
            kth[row] = squared[start + needed - 1]
            edge = kth[row] * (1 + TIE)
            sizes[row] = inside + _entries_within(squared, start + inside, stop, edge, False)


@jit_entry
def donors_by_links(
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    sizes: NDArray[np.int64],
    rows: NDArray[np.int64],
    records: NDArray[np.int64],
    modify: NDArray[np.float64],
    ends: NDArray[np.int64],
    links: NDArray[np.int32],
    q: NDArray[np.float64],
    donors: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Read donors from a table, with chains that are already at hand.

    Parameters
    ----------
    offsets, members : ndarray
        Of the table.
    sizes : ndarray of int64, shape (n,)
    rows, records : ndarray of int64, shape (m,)
        Rows of the table, and the records that they belong to.
    modify, ends, links : ndarray
        From `chains`, for these records.
    q : ndarray of float64, shape (p,)
    donors : ndarray of int64, shape (m, p)
        Filled from row `first` to `last` - 1.
    first, last : int
    """
    columns = len(q)
    for row in range(first, last):
        record = records[row]
        size, start = sizes[rows[row]], offsets[rows[row]]
        for column in range(columns):
            if modify[row, column] >= q[column]:
                donors[row, column] = record
            elif size == 0:
                donors[row, column] = -1
            else:
                cell = row * columns + column
                link = ends[cell - 1] if cell else 0
                while link + 1 < ends[cell] and links[link + 1] <= size:
                    link += 1
                donors[row, column] = members[start + links[link] - 1]
