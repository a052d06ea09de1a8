"""Some records' distances to all others, a stretch of the others at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_inline

STRETCH = 512  # others at a time: their sums stay in the processor's nearest memory


@jit_entry
def look_around(
    columns: NDArray[np.float64],
    rows: NDArray[np.int64],
    nearest: NDArray[np.float64],
    kept: NDArray[np.float64],
) -> None:
    """Squared distances of some records: the smallest of each, and those to every so many others.

    Summed coordinate by coordinate, as `squared_to_all` does.

    Parameters
    ----------
    columns : ndarray of float64, shape (d, n)
    rows : ndarray of int64, shape (m,)
    nearest : ndarray of float64, shape (m,)
        Filled.
    kept : ndarray of float64, shape (m, l)
        Filled; l of the n records at even distances, the first among them. A record is infinitely
        far from itself.
    """
    dimensions, n = columns.shape
    step = -(-n // kept.shape[1])
    room = np.empty(STRETCH)
    nearest[:] = np.inf
    for start in range(0, n, STRETCH):
        total = room[: min(STRETCH, n - start)]
        for place in range(len(rows)):
            row = rows[place]
            total[:] = 0.0
            for column in range(dimensions):
                _add_squares(columns[column, row], columns[column, start : start + STRETCH], total)
            if start <= row < start + len(total):
                total[row - start] = np.inf
            nearest[place] = min(nearest[place], total.min())
            for other in range(-start % step, len(total), step):
                kept[place, (start + other) // step] = total[other]


@jit_inline
def _add_squares(own: float, others: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    for other in range(len(total)):
        difference = own - others[other]
        total[other] += difference * difference
