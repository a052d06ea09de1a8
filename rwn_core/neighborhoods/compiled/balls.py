"""All records within each record's radius: leaf against leaf, tile by tile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled
from rwn_core.neighborhoods.compiled.guard import SLACK, guard, norm_of
from rwn_core.neighborhoods.compiled.ranking_row import Ranked, rank_row, room_for
from rwn_core.neighborhoods.compiled.scan import (
    count_within,
    leaves_near_box,
    points_to_box,
    scan_tile,
)
from rwn_core.neighborhoods.compiled.selecting import buckets_for
from rwn_core.neighborhoods.compiled.settling import may_be_sifted, settle_row, settle_sifted
from rwn_core.neighborhoods.compiled.side import Found, Side, Wanted

ROOM = 1 << 18  # candidates held at a time, unless one row alone has more
NONE = -1


class Hits(NamedTuple):
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
    """

    position: NDArray[np.int32]
    rough: NDArray[np.float64]
    begin: NDArray[np.int64]
    following: NDArray[np.int64]
    latest: NDArray[np.int64]


@compiled
def _hits_for(target: Side, width: int) -> Hits:
    room = max(ROOM, len(target.places) + 2 * target.tiles.shape[2])
    runs = room // 4 + len(target.tiles) + 2
    return Hits(
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(runs, np.int64),
        np.empty(runs, np.int64),
        np.empty(width, np.int64),
    )


@compiled
def _reaches_of(
    query: Side,
    leaf: int,
    wanted: Wanted,
    errors: NDArray[np.float64],
    reaches: NDArray[Any],
) -> None:
    """How far candidates of a leaf's rows may lie in rotated coordinates, and how far off."""
    leaves, dimensions, _ = query.tiles.shape
    start, stop = query.starts[leaves - 1 + leaf], query.starts[leaves + leaf]
    for place in range(stop - start):
        edge = wanted.edges[start + place] * (1 + SLACK)
        norm = norm_of(query.tiles[leaf], place)
        errors[place] = guard(edge, norm, dimensions, wanted.unit)
        reaches[place] = (edge + errors[place]) * (1 + 1e-6)


@compiled
def _gather(
    query: Side,
    leaf: int,
    part: tuple[int, int],
    target: Side,
    near: NDArray[np.int32],
    reaches: NDArray[Any],
    hits: Hits,
) -> bool:
    """Collect the candidates of some rows of a leaf; whether there was room for them."""
    tile = query.tiles[leaf]
    points = tile.T.copy()
    width = target.tiles.shape[2]
    squared, gaps = np.empty(width, tile.dtype), np.empty(tile.shape[1], tile.dtype)
    inner, runs, used = len(target.tiles) - 1, 0, 0
    hits.latest[:] = NONE
    for other in near:
        first = target.starts[inner + other]
        points_to_box(tile, target.low[inner + other], target.high[inner + other], gaps)
        for place in range(part[0], part[1]):
            if not gaps[place] <= reaches[place]:
                continue
            scan_tile(target.tiles, other, points, place, squared)
            if count_within(squared, reaches[place]) == 0:
                continue
            if used + width > len(hits.position) or runs + 2 > len(hits.begin):
                return False
            hits.begin[runs], hits.following[runs] = used, hits.latest[place]
            hits.latest[place] = runs
            runs += 1
            for entry in range(width):  # without a branch: most entries are no candidates
                hits.position[used], hits.rough[used] = first + entry, squared[entry]
                used += squared[entry] <= reaches[place]
    hits.begin[runs] = used
    return True


@compiled
def _collect(hits: Hits, place: int, row: Ranked) -> int:
    """Copy one row's candidates together; how many."""
    count, run = 0, hits.latest[place]
    while run != NONE:
        for entry in range(hits.begin[run], hits.begin[run + 1]):
            row.position[count], row.rough[count] = hits.position[entry], hits.rough[entry]
            count += 1
        run = hits.following[run]
    return count


@compiled
def _count_of(hits: Hits, place: int) -> int:
    count, run = 0, hits.latest[place]
    while run != NONE:
        count += hits.begin[run + 1] - hits.begin[run]
        run = hits.following[run]
    return count


@compiled
def balls(query: Side, target: Side, wanted: Wanted, found: Found, first: int, last: int) -> None:
    """Search the balls of the query leaves `first` to `last` - 1, and settle their records.

    Parameters
    ----------
    query, target : Side
        In the same rotated coordinates; they may be the same.
    wanted : Wanted
    found : Found
        Filled for the leaves' records.
    first, last : int
    """
    leaves, _, width = query.tiles.shape
    hits, row = _hits_for(target, width), room_for(1024)
    buckets = buckets_for(1024)
    reaches, errors = np.empty(width, query.tiles.dtype), np.empty(width)
    near, stack = np.empty(len(target.tiles), np.int32), np.empty(128, np.int32)
    parts = np.empty((64, 2), np.int64)
    for leaf in range(first, last):
        node = leaves - 1 + leaf
        start, size = query.starts[node], query.starts[node + 1] - query.starts[node]
        _reaches_of(query, leaf, wanted, errors, reaches)
        reach = reaches[:size].max()
        box = (query.low[node], query.high[node])
        count = leaves_near_box(target.low, target.high, box, reach, stack, near)
        waiting = 1
        parts[0, 0], parts[0, 1] = 0, size
        while waiting > 0:
            waiting -= 1
            begin, end = parts[waiting, 0], parts[waiting, 1]
            if not _gather(query, leaf, (begin, end), target, near[:count], reaches, hits):
                middle = (begin + end) >> 1  # too many candidates at once: half of the rows
                parts[waiting, 0], parts[waiting, 1] = begin, middle
                parts[waiting + 1, 0], parts[waiting + 1, 1] = middle, end
                waiting += 2
                continue
            for place in range(begin, end):
                count = _count_of(hits, place)
                if count > len(row.position):
                    row, buckets = room_for(2 * count), buckets_for(2 * count)
                position, error = start + place, errors[place]
                if may_be_sifted(query, position, wanted, found, count):
                    _collect(hits, place, row)
                    norm = norm_of(query.tiles[leaf], place)
                    if settle_sifted(
                        query, position, target, count, error, norm, row, buckets, wanted, found
                    ):
                        continue
                _collect(hits, place, row)
                point = query.exact[position]
                kept = rank_row(point, target, wanted.edges[position], count, row)
                settle_row(query, position, target, kept, row, wanted, found)
