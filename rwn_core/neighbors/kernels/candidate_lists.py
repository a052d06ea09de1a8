"""The candidates of the rows of one leaf, as a search finds them: tile by tile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.rank_row import Ranked
from rwn_core.parallel.jit import jit_inline, jit_internal

ROOM = 1 << 18  # candidates held at a time, unless one row alone has more
NONE = -1


class RadiusCandidates(NamedTuple):
    """The candidates of the rows of one query leaf, in runs of one row and one tile.

    Attributes
    ----------
    position : ndarray of int32, shape (room,)
        Rows of the target.
    rough : ndarray of float64, shape (room,)
        Their approximate squared distances.
    begin, following : ndarray of int64, shape (runs,)
        Where each run begins, and the next run of the same row; NONE for the last.
    latest : ndarray of int64, shape (width,)
        The last run of each row so far; runs are linked backwards.
    runs : ndarray of int64, shape (1,)
        How many runs there are.
    error : ndarray of float64, shape (width,)
        The largest error of each row's approximate squared distances.
    """

    position: NDArray[np.int32]
    rough: NDArray[np.float64]
    begin: NDArray[np.int64]
    following: NDArray[np.int64]
    latest: NDArray[np.int64]
    runs: NDArray[np.int64]
    error: NDArray[np.float64]


@jit_internal
def candidates_for(target: Side, width: int) -> RadiusCandidates:
    """Room for the candidates of one leaf of this width, or of one of its rows."""
    room = max(ROOM, len(target.positions) + 4 * target.tiles.shape[2])
    runs = room // 4 + len(target.tiles) + 4
    return RadiusCandidates(
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(runs, np.int64),
        np.empty(runs, np.int64),
        np.empty(width, np.int64),
        np.zeros(1, np.int64),
        np.empty(width),
    )


@jit_inline
def collect(candidates: RadiusCandidates, index: int, row: Ranked) -> int:
    """Copy one row's candidates together; how many."""
    count, run = 0, candidates.latest[index]
    while run != NONE:
        for entry in range(candidates.begin[run], candidates.begin[run + 1]):
            row.position[count], row.rough[count] = (
                candidates.position[entry],
                candidates.rough[entry],
            )
            count += 1
        run = candidates.following[run]
    return count


@jit_inline
def count_of(candidates: RadiusCandidates, index: int) -> int:
    """How many candidates one row has."""
    count, run = 0, candidates.latest[index]
    while run != NONE:
        count += candidates.begin[run + 1] - candidates.begin[run]
        run = candidates.following[run]
    return count
