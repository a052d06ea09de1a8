"""From the candidates of a query row to what is found of its records."""

from __future__ import annotations

import numpy as np

from rwn_core.neighborhoods.compiled import compiled
from rwn_core.neighborhoods.compiled.chacha import UNIFORMS
from rwn_core.neighborhoods.compiled.drawing import (
    KEPT,
    NOBODY,
    draw_ranks,
    draw_row,
    store_row,
)
from rwn_core.neighborhoods.compiled.guard import guard_up_to
from rwn_core.neighborhoods.compiled.ranking_row import Ranked, weight_within
from rwn_core.neighborhoods.compiled.selecting import (
    Buckets,
    fill_buckets,
    nearest_exact,
    pick,
    sift,
)
from rwn_core.neighborhoods.compiled.side import Found, Side, Wanted

FULL_ORDER = 48  # candidates up to which ranking them all is quicker than finding some ranks


@compiled
def settle_row(
    query: Side, position: int, target: Side, kept: int, row: Ranked, wanted: Wanted, found: Found
) -> None:
    """Read sizes, nearest distances and donors of a query row's records from its ranked row."""
    if found.starts.size:  # the sizes are known: only the table is asked for
        store_row(query, position, target, kept, row, wanted, found, False)
        return
    total = weight_within(row, kept, wanted.edges[position])
    for place in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[place]
        own = wanted.own[record]
        within = total - (own >= 0)
        found.within[record] = within
        if within >= wanted.k:
            found.sizes[record] = within
            found.nearest[record] = nearest_squared(row, kept, within, own)
    if wanted.streams.size:
        draw_row(query, position, target, kept, row, wanted, found, False)


@compiled
def may_be_sifted(query: Side, position: int, wanted: Wanted, found: Found, count: int) -> bool:
    """Whether a row is of one record, and has few ranks to find among many candidates."""
    alone = query.offsets[position + 1] - query.offsets[position] == 1
    few = count > FULL_ORDER or wanted.streams.size == 0
    return alone and few and found.starts.size == 0


@compiled
def settle_sifted(
    query: Side,
    position: int,
    target: Side,
    count: int,
    error: float,
    norm: float,
    row: Ranked,
    buckets: Buckets,
    wanted: Wanted,
    found: Found,
) -> bool:
    """`settle_row` without ranking the row; False where only the full order can tell."""
    record = query.records[query.offsets[position]]
    own, point, edge = wanted.own[record], query.exact[position], wanted.edges[position]
    itself = target.places[own] if own >= 0 else -1
    size = sift(point, itself, target, edge, error, count, row)
    if size < 0:
        return False
    found.within[record] = size
    if size < wanted.k:
        return True
    if size:  # where the radius reaches far beyond the data, its own error says nothing
        largest = row.rough[:size].max()
        error = min(error, guard_up_to(largest, norm, len(point), wanted.unit))
    found.sizes[record] = size
    found.nearest[record] = nearest_exact(point, target, error, size, row)
    columns = len(wanted.streams)
    if columns == 0:
        return True
    ranks = np.empty(columns, np.int64)
    number = query.numbers[record]
    draw_ranks(wanted, number, size, np.empty(UNIFORMS), np.empty(columns), ranks)
    filled = fill_buckets(size, len(point), row, buckets) if size else 0
    for column, rank in enumerate(ranks):
        donor = number if rank == KEPT else NOBODY
        if rank > 0:
            donor = target.numbers[pick(point, target, int(rank), error, filled, buckets)]
        found.donors[record, column] = donor
    return True


@compiled
def nearest_squared(row: Ranked, kept: int, size: int, own: int) -> float:
    """The squared distance of the nearest member, the record itself left out; NaN for none."""
    if size == 0:
        return np.nan
    entry = 0
    if own >= 0 and row.weight[0] == 1:
        entry = 1  # the first entry is the record itself, alone in its row
    return float(row.squared[row.head[entry]])
