"""Turns the candidates of a query row into the results of its records."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors.kernels.arrays import SearchResult, Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import RadiusCandidates
from rwn_core.neighbors.kernels.draw_row import KEPT, NOBODY, Ranks, draw_ranks, draw_row, store_row
from rwn_core.neighbors.kernels.rank_row import Ranked, weight_within
from rwn_core.neighbors.kernels.rank_select import Buckets, fill_buckets, nearest_exact, pick, sift
from rwn_core.parallel.jit import jit_inline, jit_internal, jit_no_refcount


@jit_internal
def settle_row(
    query: Side,
    position: int,
    target: Side,
    kept: int,
    row: Ranked,
    wanted: Wanted,
    result: SearchResult,
) -> None:
    """Read sizes, nearest distances and donors of a query row's records from its ranked row."""
    if result.starts.size:  # the sizes are known: only the table is asked for
        store_row(query, position, target, kept, row, wanted, result, False)
        return
    total = weight_within(row, kept, wanted.edges[position])
    for index in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[index]
        own = wanted.own[record]
        within = total - (own >= 0)
        result.within[record] = within
        if within >= wanted.k:
            result.sizes[record] = within
            result.nearest[record] = nearest_squared(row, kept, within, own)
    if wanted.streams.size:
        draw_row(query, position, target, kept, row, wanted, result, False)


@jit_inline
def may_be_sifted(query: Side, position: int, result: SearchResult) -> bool:
    """Whether a row is of one record, and no table is asked for."""
    return query.offsets[position + 1] - query.offsets[position] == 1 and result.starts.size == 0


@jit_inline
def settle_sifted(
    query: Side,
    position: int,
    target: Side,
    candidates: RadiusCandidates,
    index: int,
    row: Ranked,
    buckets: Buckets,
    room: Ranks,
    wanted: Wanted,
    result: SearchResult,
) -> bool:
    """`settle_row` without ranking the row; False where only the full order can say."""
    record = query.records[query.offsets[position]]
    own, point, edge = wanted.own[record], query.exact[position], wanted.edges[position]
    itself = target.positions[own] if own >= 0 else -1
    size = sift(point, itself, target, edge, candidates, index, row)
    if size < 0:
        return False
    result.within[record] = size
    if size < wanted.k:
        return True
    error = candidates.error[index]
    result.sizes[record] = size
    result.nearest[record] = nearest_exact(point, target, error, size, row)
    columns = len(wanted.streams)
    if columns == 0:
        return True
    number = query.numbers[record]
    draw_ranks(wanted, number, size, room)
    filled = fill_buckets(size, len(point), row, buckets) if size else 0
    for column in range(columns):
        rank = int(room.ranks[column])
        donor = number if rank == KEPT else NOBODY
        if rank > 0:
            donor = pick(point, target, rank, error, filled, buckets)
        result.donors[record, column] = donor
    return True


@jit_no_refcount
def nearest_squared(row: Ranked, kept: int, size: int, own: int) -> float:
    """The squared distance of the nearest member, the record itself left out; NaN for none."""
    if size == 0:
        return np.nan
    entry = 0
    if own >= 0 and row.weight[0] == 1:
        entry = 1  # the first entry is the record itself, alone in its row
    return float(row.squared[row.head[entry]])
