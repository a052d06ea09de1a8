"""Neighborhoods and donors: of one ranked row in a search, or cut from a stored table.

Weighted donors are drawn by layers: a random reach, then the record chain within it. With weights
w_1, w_2, ... by rank and e_t the largest of w_t, w_(t+1), ..., the reach is s with probability
proportional to s (e_s - e_(s+1)); the chain makes the rank T uniform up to s, and T is accepted
with probability w_T / e_T, or drawn anew. That is exactly proportional to w. Even weights have one
layer and are always accepted: the chain alone, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32, Words
from rwn_core.neighbors.chacha_kernel import UNIFORMS, last_rank, uniforms_of_block
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.index import IndexArrays
from rwn_core.neighbors.rank_kernel import (
    RowRoom,
    count_within,
    list_row,
    own_entry,
    sort_candidates,
)
from rwn_core.parallel.jit import ZERO, jit_entry, jit_no_refcount

NO_DONOR = -1
DRAW, LIST, STORE = 0, 1, 2  # sinks of a search
SCALE = 2.0**50  # envelopes are whole numbers of this unit
ATTEMPTS = 1000  # then by cumulative weights
ATTEMPT_BLOCKS = 2**20  # of random numbers that an attempt's chain may use
LAYER_BLOCKS = 2**31  # where the blocks begin that choose layers


class SearchRequest(NamedTuple):
    """The parameters of a search."""

    query: IndexArrays
    target: IndexArrays  # where members come from
    # shape (n,): which record of the target each query record is; -1 for none
    own: Integers32
    # shape (g,): the largest squared distance within each query row's radius
    edges: Floats
    k: int  # 0 for none
    # groups, own_group: shape (N,) and (n,): of the target's and the query's records; those of one
    # group leave each other out. Empty for none.
    groups: Integers
    own_group: Integers
    others: int  # in the largest group, besides a record
    unit: float  # relative error of one rotated coordinate
    key: Words  # shape (8,)
    streams: Integers  # shape (p,): empty if no donors are drawn
    q: Floats  # shape (p,)


class SearchResult(NamedTuple):
    """The results of a search, by query record."""

    # within, sizes: shape (n,): members within epsilon, and in all
    within: Integers
    sizes: Integers
    # shape (n,): squared distance to the nearest member; NaN if there is none
    nearest: Floats
    # shape (n,): squared distance to the k-th nearest where k governs, else 0
    kth: Floats
    donors: Integers  # shape (n, p)
    # shape (n + 1,): where each record's row below begins (STORE), or each query row's (LIST)
    starts: Integers = np.zeros(1, np.int64)
    # shape (m,): records of the target (STORE); entries of its `records`, in no order (LIST)
    members: Integers32 = np.empty(0, np.int32)
    squared: Floats = np.empty(0)  # shape (m,): only by STORE
    sink: int = DRAW  # DRAW, LIST or STORE: what is written


@jit_no_refcount
def _drawn_rank(key: Words, record: int, stream: int, size: int, q: float, unit: Floats) -> int:
    """Return the rank of a cell's donor, from 1; 0 if it is not modified, -1 if there is none."""
    # Shapes: key, unit (8,).
    uniforms_of_block(key, record, stream, ZERO, unit)
    if not unit[0] < q:
        return 0
    return last_rank(key, record, stream, ZERO, size, unit) if size else -1


@jit_no_refcount
def _finish_record(
    record: int, edge: float, total: int, row: RowRoom, request: SearchRequest, result: SearchResult
) -> None:
    """Write the results of a query record from its listed row of `total` entries.

    Its neighbors are found as in `cut_rows`.
    """
    place = own_entry(row, total, request.own[record])
    itself = int(place >= 0)
    if result.sink == STORE:
        index = result.starts[record]
        entry = 0
        while index < result.starts[record + 1]:
            if entry != place:
                result.members[index] = row.members[entry]
                result.squared[index] = row.distance[entry]
                index += 1
            entry += 1
        return
    within = count_within(row.distance, ZERO, total, edge, False)
    within -= place >= 0 and place < within
    size = within
    kth = 0.0
    if within < request.k:
        # the record itself is in the first tie: before the k-th other, or tied with it
        kth = row.distance[min(request.k - 1 + itself, total - 1)]
        size = count_within(row.distance, ZERO, total, kth, False) - itself
    result.within[record], result.sizes[record], result.kth[record] = within, size, kth
    result.nearest[record] = row.distance[1 if place == 0 else 0] if size > 0 else np.nan
    number = request.query.numbers[record]
    for column in range(len(request.streams)):
        stream = request.streams[column]
        q = request.q[column]
        entry = _drawn_rank(request.key, number, stream, size, q, row.unit) - 1
        donor = number
        if entry >= 0:
            entry += 0 <= place <= entry
            donor = request.target.numbers[row.members[entry]]
        result.donors[record, column] = donor if entry >= -1 else NO_DONOR


@jit_no_refcount
def finish_row(
    position: int,
    candidates: Any,
    index: int,
    row: RowRoom,
    request: SearchRequest,
    result: SearchResult,
) -> bool:
    """True if a row has the members that were counted; writes the results of its records."""
    query = request.query
    target = request.target
    held = candidates.held[index]
    found = candidates.position[index, :held]
    squared = candidates.squared[index, :held]
    retained = sort_candidates(found, squared, candidates.bound[index], row)
    if result.sink == LIST:  # its members and itself, as entries of the target's records
        place, stop = result.starts[position], result.starts[position + 1]
        for entry in range(retained):
            row_of = row.places[entry]
            for record in range(target.offsets[row_of], target.offsets[row_of + 1]):
                if place < stop:
                    result.members[place] = record
                    place += 1
        return bool(place == stop)
    total = list_row(target, retained, row)
    edge = request.edges[position]
    for number in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[number]
        listed, count = row, total
        if len(request.groups):  # the row without the record's group, where the candidates were
            listed = RowRoom(row.places, row.keys, row.members, row.distance, row.buckets, row.unit)
            count = 0
            for entry in range(total):
                if request.groups[row.members[entry]] != request.own_group[record]:
                    listed.members[count] = row.members[entry]
                    listed.distance[count] = row.distance[entry]
                    count += 1
        if result.sink == STORE:
            counted = result.starts[record + 1] - result.starts[record]
            if counted > 0 and counted + (request.own[record] >= 0) > count:
                return False
        _finish_record(record, edge, count, listed, request, result)
    return True


@jit_entry
def cut_rows(
    offsets: Integers, squared: Floats, edges: Floats, strict: bool, k: int
) -> tuple[Integers, Integers, Floats]:
    """Count each row's neighbors: those within its edge, and the k nearest if these are more.

    Return how many are within the edge, how many in all, and the k-th's squared distance.
    """
    # Shapes: offsets (n + 1,); squared (m,); edges, and each answer (n,).
    rows = len(edges)
    within, sizes, kth = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows)
    for row in range(rows):
        start, stop = offsets[row], offsets[row + 1]
        inside = count_within(squared, start, stop, edges[row], strict)
        within[row] = sizes[row] = inside
        kth[row] = 0.0
        needed = min(k, stop - start)
        if inside < needed:
            kth[row] = squared[start + needed - 1]
            edge = kth[row] * (1 + TIE)
            sizes[row] = inside + count_within(squared, start + inside, stop, edge, False)
    return within, sizes, kth


@jit_no_refcount
def _by_layers(
    key: Words,
    record: int,
    stream: int,
    weights: Floats,
    envelope: Integers,
    layers: Integers,
    unit: Floats,
) -> int:
    """Return the rank of a cell's donor, from 1, by the weights of its row, shape (size,)."""
    size = len(weights)
    total = layers[size - 1]
    for attempt in range(ATTEMPTS):
        uniforms_of_block(key, record, stream, LAYER_BLOCKS + attempt, unit)
        accept = unit[1]
        place = min(int(unit[0] * total), total - 1)
        reach = count_within(layers, ZERO, size, place, False) + 1
        block = attempt * ATTEMPT_BLOCKS
        uniforms_of_block(key, record, stream, block, unit)
        rank = last_rank(key, record, stream, block, reach, unit)
        weight = int(weights[rank - 1] * SCALE)
        if weight >= envelope[rank - 1] or accept * envelope[rank - 1] < weight:
            return rank
    uniforms_of_block(key, record, stream, LAYER_BLOCKS + ATTEMPTS, unit)
    left = unit[0]
    for rank in range(1, size):
        left -= weights[rank - 1]
        if left < 0.0:
            return rank
    return size


@jit_no_refcount
def _set_layers(weights: Floats, envelope: Integers, layers: Integers) -> bool:
    """True if a row has several layers; writes them with the envelope of its weights."""
    # Shapes: weights (size,); envelope, layers (at least size,).
    size = len(weights)
    largest = 0.0
    smallest = 1.0
    total = 0
    for place in range(size - 1, -1, -1):
        largest = max(largest, weights[place])
        smallest = min(smallest, weights[place])
        envelope[place] = int(largest * SCALE)
    for place in range(size):
        beyond = envelope[place + 1] if place + 1 < size else 0
        total += (place + 1) * (envelope[place] - beyond)
        layers[place] = total
    return bool(int(smallest * SCALE) < envelope[0])  # also where the farthest weighs most


@jit_entry
def draw_weighted(
    starts: Integers, members: Integers32, weights: Floats, drawn: Floats, donors: Integers
) -> None:
    """Draw one member of each row by its weights, from a uniform number a row."""
    # Shapes: starts (n + 1,); members, weights (m,); drawn, donors (n,). Weights are whole numbers,
    # so that their sums are exact.
    for row in range(len(donors)):
        total = ZERO
        place = starts[row]
        for entry in range(starts[row], starts[row + 1]):
            total += int(weights[entry] * SCALE)
        goal = min(int(drawn[row] * total), total - 1)
        below = int(weights[place] * SCALE)
        while below <= goal:
            place += 1
            below += int(weights[place] * SCALE)
        donors[row] = members[place]


@jit_entry
def draw_rows(
    keys: Words,
    records: Integers,
    streams: Integers,
    q: Floats,
    rows: Integers,
    sizes: Integers,
    starts: Integers,
    members: Integers32,
    weights: Floats,
    donors: Integers,
    first: int,
    last: int,
) -> None:
    """Draw the donors of records `first` to `last` - 1 from their rows of a stored table."""
    # Shapes: keys (1, 8) or (m, 8); records, their rows (m,); streams, q (p,); donors (m, p).
    # Members are nearest first, with a weight each, or no weights where all are equal.
    longest = ZERO
    if len(weights):
        for index in range(first, last):
            longest = max(longest, sizes[rows[index]])
    envelope, layers = np.empty(longest, np.int64), np.empty(longest, np.int64)
    unit = np.empty(UNIFORMS)
    for index in range(first, last):
        record = records[index]
        key = keys[min(index, len(keys) - 1)]
        row = rows[index]
        start = starts[row]
        size = sizes[row]
        own = weights[start : start + size]  # none where all are equal
        several = len(own) > 0 and _set_layers(own, envelope, layers)
        for column in range(len(streams)):
            stream = streams[column]
            donor = record
            rank = _drawn_rank(key, record, stream, size, q[column], unit)
            if rank > 0:
                if several:
                    rank = _by_layers(key, record, stream, own, envelope, layers, unit)
                donor = members[start + rank - 1]
            donors[index, column] = donor if rank >= 0 else NO_DONOR
