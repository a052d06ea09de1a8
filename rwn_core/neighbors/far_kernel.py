"""Beyond a stored table: the members within each radius of a slider, and those of given ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.draw_kernel import SearchRequest
from rwn_core.neighbors.index_kernel import IndexArrays
from rwn_core.neighbors.rank_kernel import (
    Row,
    allocate_row,
    copy_row,
    count_within,
    list_row,
    place_of,
    records_of,
    sort_row,
)
from rwn_core.neighbors.search_kernel import (
    ROOM,
    allocate_candidates,
    allocate_workspace,
    gather,
)
from rwn_core.parallel.jit import jit_entry, jit_no_refcount


class Far(NamedTuple):
    """What is asked for, and what is filled in, by query record.

    Attributes
    ----------
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

    edges: NDArray[np.float64]
    counts: NDArray[np.int32]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int32]
    donors: NDArray[np.int32]


@jit_no_refcount
def _finish_far(target: IndexArrays, record: int, own: int, total: int, row: Row, far: Far) -> None:
    """Write a record's members within each radius, and those of the ranks."""
    place = place_of(row, total, own)
    size = 0
    for radius in range(len(far.edges)):
        within = count_within(row.distance, total, far.edges[radius])
        size = within - int(place >= 0 and place < within)
        far.counts[record, radius] = size
    for index in range(far.starts[record], far.starts[record + 1]):
        entry = far.ranks[index] - 1
        if entry < size:
            entry += 0 <= place <= entry
            far.donors[index] = target.numbers[row.members[entry]]


@jit_entry
def find_far(
    query: IndexArrays,
    target: IndexArrays,
    request: SearchRequest,
    far: Far,
    first: int,
    last: int,
) -> None:
    """Count and look up the members of the records of the query leaves `first` to `last` - 1.

    Parameters
    ----------
    query, target : IndexArrays
    request : SearchRequest
        Its edges are those of the largest radius.
    far : Far
        Filled for the leaves' records.
    first, last : int
    """
    leaves, width = len(query.starts) // 2, query.tiles.shape[2]
    work, row = allocate_workspace(query, target), allocate_row(1024)
    room, most = max(4 * target.tiles.shape[2], ROOM // width), width
    candidates = allocate_candidates(most, room)
    for leaf in range(first, last):
        start, begin = query.starts[leaves - 1 + leaf], 0
        size = query.starts[leaves + leaf] - start
        while begin < size:
            end = min(size, begin + most)
            if not gather(query, leaf, begin, end, target, request, candidates, work):
                room, most = 2 * room, max(1, most // 2)  # too many candidates at once
                candidates = allocate_candidates(most, room)
                continue
            for index in range(end - begin):
                found, count = candidates.position[index], candidates.held[index]
                needed = max(count, records_of(target, found, count))
                if needed > len(row.members):
                    row = allocate_row(2 * needed)
                squared, bound = candidates.squared[index], candidates.bound[index]
                kept = copy_row(found, squared, count, bound, row)
                sort_row(kept, query.exact.shape[1], row)
                total, position = list_row(target, kept, row), start + candidates.in_leaf[index]
                for entry in range(query.offsets[position], query.offsets[position + 1]):
                    record = query.records[entry]
                    _finish_far(target, record, request.own[record], total, row, far)
            begin = end


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
