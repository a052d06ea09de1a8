"""Beyond a stored table: how many members each radius of a slider has, and who has given ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import candidates_for, collect, count_of
from rwn_core.neighbors.kernels.draw_row import member_of, pool_for
from rwn_core.neighbors.kernels.error_bound import SLACK, exact_squared
from rwn_core.neighbors.kernels.leaf_distances import facing_for
from rwn_core.neighbors.kernels.radius_candidates import gather
from rwn_core.neighbors.kernels.rank_row import (
    Ranked,
    rank_row,
    room_for,
    tied_records,
    weight_within,
)
from rwn_core.neighbors.kernels.rank_select import buckets_for, fill_buckets, pick, sift
from rwn_core.parallel.jit import jit_entry, jit_inline, jit_internal


class Far(NamedTuple):
    """What is asked for, and what is filled in, by query record.

    Attributes
    ----------
    step : float
        Between two radii of the slider.
    edges : ndarray of float64, shape (radii,)
        The largest squared distance within each: of 0, step, 2 step, and so on.
    counts : ndarray of int32, shape (n, radii)
        Filled: members within each radius.
    starts : ndarray of int64, shape (n + 1,)
        Where each record's ranks begin. Of more than the members there are, none is looked for.
    ranks : ndarray of int32
    donors : ndarray of int32
        Filled: the number of the member of each rank.
    """

    step: float
    edges: NDArray[np.float64]
    counts: NDArray[np.int32]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int32]
    donors: NDArray[np.int32]


@jit_inline
def _count(
    point: NDArray[np.float64],
    target: Side,
    size: int,
    error: float,
    row: Ranked,
    far: Far,
    counts: NDArray[np.int32],
) -> bool:
    """Count a row's members within each radius; False where only the full order can say."""
    counts[:] = 0
    last = len(far.edges) - 1
    for entry in range(size):
        squared = row.rough[entry]
        radius = min(int(np.sqrt(max(squared, 0.0)) / far.step), last)
        # the smallest radius that holds it, unless the error or a tie makes that unsure
        while radius > 0 and squared <= far.edges[radius - 1]:
            radius -= 1
        while radius < last and squared > far.edges[radius]:
            radius += 1
        below = far.edges[radius - 1] if radius > 0 else -1.0
        if squared - error <= below * (1 + SLACK) or squared + error >= far.edges[radius]:
            squared = exact_squared(
                point, target.exact, target.levels, target.squares, row.position[entry]
            )
            radius = 0
            while radius < last and squared > far.edges[radius]:
                radius += 1
            if radius > 0 and squared <= far.edges[radius - 1] * (1 + SLACK):
                return False
        counts[radius] += 1
    for radius in range(1, last + 1):
        counts[radius] += counts[radius - 1]
    return True


@jit_internal
def _rank_fully(
    query: Side, position: int, target: Side, kept: int, row: Ranked, wanted: Wanted, far: Far
) -> None:
    """Counts and ranks of a row's records from its ranked row."""
    pool = pool_for(row, kept)
    first = tied_records(target, row, kept, 0, pool) if kept else pool
    for index in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[index]
        own = wanted.own[record]
        for radius in range(len(far.edges)):
            within = weight_within(row, kept, far.edges[radius]) - (own >= 0)
            far.counts[record, radius] = within
        size = weight_within(row, kept, wanted.edges[position]) - (own >= 0)
        for entry in range(far.starts[record], far.starts[record + 1]):
            rank = far.ranks[entry]
            if rank <= size:
                member = member_of(target, row, kept, rank, own, first, pool)
                far.donors[entry] = target.numbers[member]


@jit_entry
def find_far(query: Side, target: Side, wanted: Wanted, far: Far, first: int, last: int) -> None:
    """Count and look up the members of the records of the query leaves `first` to `last` - 1.

    Parameters
    ----------
    query, target : Side
    wanted : Wanted
        Its edges are those of the largest radius.
    far : Far
        Filled for the leaves' records.
    first, last : int
    """
    leaves, width = len(query.starts) // 2, query.tiles.shape[2]
    candidates, row = candidates_for(target, width), room_for(1024)
    facing = facing_for(query, target)
    buckets, near = buckets_for(1024), np.empty(len(target.starts) // 2, np.int32)
    parts = np.empty((64, 2), np.int64)
    for leaf in range(first, last):
        start = query.starts[leaves - 1 + leaf]
        waiting = 1
        parts[0, 0], parts[0, 1] = 0, query.starts[leaves + leaf] - start
        while waiting > 0:
            waiting -= 1
            begin, end = parts[waiting, 0], parts[waiting, 1]
            if not gather(query, leaf, (begin, end), target, near, wanted, facing, candidates):
                middle = (begin + end) >> 1  # too many candidates at once: half of the rows
                parts[waiting, 0], parts[waiting, 1] = begin, middle
                parts[waiting + 1, 0], parts[waiting + 1, 1] = middle, end
                waiting += 2
                continue
            for index in range(begin, end):
                position, edge = start + index, wanted.edges[start + index]
                point, count = query.exact[position], count_of(candidates, index)
                if count > len(row.position):
                    row, buckets = room_for(2 * count), buckets_for(2 * count)
                record = query.records[query.offsets[position]]
                own, size = wanted.own[record], -1
                if query.offsets[position + 1] - query.offsets[position] == 1:
                    itself = target.positions[own] if own >= 0 else -1
                    size = sift(point, itself, target, edge, candidates, index, row)
                error = candidates.error[index]
                if size < 0 or not _count(point, target, size, error, row, far, far.counts[record]):
                    collect(candidates, index, row)
                    kept = rank_row(point, target, edge, count, row)
                    _rank_fully(query, position, target, kept, row, wanted, far)
                    continue
                filled = 0
                for entry in range(far.starts[record], far.starts[record + 1]):
                    if far.ranks[entry] > size:
                        continue
                    if filled == 0:
                        filled = fill_buckets(size, len(point), row, buckets)
                    far.donors[entry] = pick(
                        point, target, far.ranks[entry], error, filled, buckets
                    )


@jit_entry
def far_links(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: int,
    ends: NDArray[np.int64],
    links: NDArray[np.int32],
    longest: NDArray[np.int64],
    places: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> int:
    """Mark the links of chains that are beyond a table; how many there are.

    Parameters
    ----------
    offsets : ndarray of int64
        Of the table.
    rows : ndarray of int64, shape (m,)
        The rows of the chains' records.
    columns : int
    ends, links : ndarray
        From `chains`.
    longest : ndarray of int64, shape (m,)
        The largest size that a record will have.
    places : ndarray of int32, as long as `links`
        Filled with the number of each link among those beyond; -1 for the others.
    starts : ndarray of int64, shape (m + 1,)
        Filled with where those of each record begin.
    """
    used, link = 0, 0
    for row in range(len(rows)):
        starts[row] = used
        stored = offsets[rows[row] + 1] - offsets[rows[row]]
        while link < ends[(row + 1) * columns - 1]:
            places[link] = -1
            if stored < links[link] <= longest[row]:
                places[link] = used
                used += 1
            link += 1
    starts[len(rows)] = used
    return used


@jit_entry
def donors_of_links(
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    sizes: NDArray[np.int64],
    records: NDArray[np.int64],
    modify: NDArray[np.float64],
    ends: NDArray[np.int64],
    links: NDArray[np.int32],
    places: NDArray[np.int32],
    beyond: NDArray[np.int32],
    q: NDArray[np.float64],
    donors: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Read donors from a table and, for ranks beyond it, from those that were looked up.

    Parameters
    ----------
    offsets, members : ndarray
        Of the table; its rows are those of `records`.
    sizes, records : ndarray of int64, shape (m,)
    modify, ends, links : ndarray
        From `chains`, for these records.
    places, beyond : ndarray of int32
        Each link's number among the ranks that were looked up, and who has them.
    q : ndarray of float64, shape (p,)
    donors : ndarray of int64, shape (m, p)
        Filled from row `first` to `last` - 1.
    first, last : int
    """
    columns = len(q)
    for row in range(first, last):
        size, record = sizes[row], records[row]
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
                if places[link] >= 0:
                    donors[row, column] = beyond[places[link]]
                else:
                    donors[row, column] = members[offsets[row] + links[link] - 1]
