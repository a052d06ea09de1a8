"""Neighborhoods and donors: of one ranked row in a search, or cut from a stored table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.chacha_kernel import last_rank, uniforms_of_block
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.distance_kernel import SLACK
from rwn_core.neighbors.index_kernel import IndexArrays
from rwn_core.neighbors.rank_kernel import (
    Row,
    copy_row,
    count_within,
    list_row,
    own_entry,
    sort_row,
)
from rwn_core.parallel.jit import ZERO, jit_entry, jit_no_refcount

NO_DONOR = -1
DRAW, LIST, STORE, NEAREST = 0, 1, 2, 3  # sinks of a search


class SearchRequest(NamedTuple):
    """Parameters of a search.

    Attributes
    ----------
    own : ndarray of int32, shape (n,)
        Which record of the target each query record is; -1 for none.
    edges : ndarray of float64, shape (g,)
        The largest squared distance within each query row's radius.
    k : int
        0 for none.
    unit : float
        Relative error of one rotated coordinate.
    key : ndarray of uint32, shape (8,)
    streams : ndarray of int64, shape (p,)
        Empty if no donors are drawn.
    q : ndarray of float64, shape (p,)
    """

    own: NDArray[np.int32]
    edges: NDArray[np.float64]
    k: int
    unit: float
    key: NDArray[np.uint32]
    streams: NDArray[np.int64]
    q: NDArray[np.float64]


class SearchResult(NamedTuple):
    """Results of a search, by query record.

    Attributes
    ----------
    within, sizes : ndarray of int64, shape (n,)
        Members within epsilon, and in all.
    nearest : ndarray of float64, shape (n,)
        Squared distance to the nearest member; NaN if there is none.
    kth : ndarray of float64, shape (n,)
        Squared distance to the k-th nearest where k governs, else 0.
    donors : ndarray of int64, shape (n, p)
    starts : ndarray of int64, shape (n + 1,) or (g + 1,)
        Where each record's row below begins (STORE, NEAREST), or each query row's (LIST).
    members : ndarray of int32, shape (m,)
        Records of the target (STORE, NEAREST); entries of its `records`, in no order (LIST).
    squared : ndarray of float64, shape (m,)
        Only by STORE and NEAREST.
    """

    within: NDArray[np.int64]
    sizes: NDArray[np.int64]
    nearest: NDArray[np.float64]
    kth: NDArray[np.float64]
    donors: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    squared: NDArray[np.float64]


@jit_no_refcount
def _finish_record(
    query: IndexArrays,
    record: int,
    target: IndexArrays,
    edge: float,
    total: int,
    row: Row,
    request: SearchRequest,
    result: SearchResult,
    sink: int,
    unit: NDArray[np.float64],
) -> None:
    """Write the results of a query record from its listed row of `total` entries."""
    place = own_entry(row, total, request.own[record])
    itself = int(place >= 0)
    if sink in (STORE, NEAREST):
        index, entry = result.starts[record], 0
        while index < result.starts[record + 1]:
            if entry != place:
                result.members[index] = row.members[entry]
                result.squared[index] = row.distance[entry]
                index += 1
            entry += 1
    if sink == STORE:
        return
    within = count_within(row.distance, total, edge)
    within -= place >= 0 and place < within
    size = within
    kth = 0.0
    if within < request.k:
        # the record itself is in the first tie: before the k-th other, or tied with it
        kth = row.distance[min(request.k - 1 + itself, total - 1)]
        size = count_within(row.distance, total, kth) - itself
    result.within[record], result.sizes[record], result.kth[record] = within, size, kth
    result.nearest[record] = row.distance[1 if place == 0 else 0] if size > 0 else np.nan
    number = query.numbers[record]
    for column in range(len(request.streams)):
        stream = request.streams[column]
        uniforms_of_block(request.key, number, stream, ZERO, unit)
        if not unit[0] < request.q[column]:
            result.donors[record, column] = number
        elif size == 0:
            result.donors[record, column] = NO_DONOR
        else:
            entry = last_rank(request.key, number, stream, size, unit) - 1
            entry += 0 <= place <= entry
            result.donors[record, column] = target.numbers[row.members[entry]]


@jit_no_refcount
def _finish_sizes(
    query: IndexArrays,
    position: int,
    target: IndexArrays,
    kept: int,
    row: Row,
    request: SearchRequest,
    result: SearchResult,
) -> bool:
    """Write the size of a row of one record without sorting; False where only ranks can tell."""
    edge, own = request.edges[position], request.own[query.records[query.offsets[position]]]
    itself = target.positions[own] if own >= 0 else -1
    within, nearest = 0, np.inf
    for entry in range(kept):
        squared, place = row.squared[entry], row.position[entry]
        if squared > edge:
            if squared <= edge * (1 + SLACK):
                return False  # it may tie with a member
            continue
        count = target.offsets[place + 1] - target.offsets[place] - (place == itself)
        within += count
        if count:
            nearest = min(nearest, squared)
    if within < request.k:
        return False
    record = query.records[query.offsets[position]]
    result.within[record] = result.sizes[record] = within
    result.nearest[record] = nearest if within else np.nan
    return True


@jit_no_refcount
def _finish_list(
    query: IndexArrays,
    position: int,
    target: IndexArrays,
    kept: int,
    row: Row,
    edge: float,
    result: SearchResult,
) -> bool:
    """List a row's members and itself, as entries of the target's records; False if too few."""
    for entry in range(kept):
        if edge < row.squared[entry] <= edge * (1 + SLACK):
            sort_row(kept, query.exact.shape[1], row)  # the nearest are the members
            break
    index, stop = result.starts[position], result.starts[position + 1]
    for entry in range(kept):
        place = row.position[entry]
        for record in range(target.offsets[place], target.offsets[place + 1]):
            if index < stop:
                result.members[index] = record
                index += 1
    return bool(index == stop)


@jit_no_refcount
def finish_row(
    query: IndexArrays,
    position: int,
    target: IndexArrays,
    found: NDArray[np.int32],
    squared: NDArray[np.float64],
    limit: float,
    row: Row,
    request: SearchRequest,
    result: SearchResult,
    sink: int,
    unit: NDArray[np.float64],
) -> bool:
    """Write the results of a query row's records; False if fewer members than were counted."""
    kept = copy_row(found, squared, len(found), limit, row)
    first, last = query.offsets[position], query.offsets[position + 1]
    if sink == LIST:
        return _finish_list(query, position, target, kept, row, request.edges[position], result)
    if (
        sink == DRAW
        and len(request.streams) == 0
        and last - first == 1
        and _finish_sizes(query, position, target, kept, row, request, result)
    ):
        return True
    sort_row(kept, query.exact.shape[1], row)
    total = list_row(target, kept, row)
    edge = request.edges[position]
    for index in range(first, last):
        record = query.records[index]
        if sink == STORE:
            counted = result.starts[record + 1] - result.starts[record]
            if counted > 0 and counted + (request.own[record] >= 0) > total:
                return False
        _finish_record(query, record, target, edge, total, row, request, result, sink, unit)
    return True


@jit_no_refcount
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
    """Count the entries of rows `first` to `last` - 1 that a radius or k admits."""
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
    """Read donors from a table, with chains from `chains`."""
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
