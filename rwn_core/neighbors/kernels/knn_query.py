"""The k nearest others of records whose radius holds fewer, ties included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import HULL, SearchResult, Side, Wanted
from rwn_core.neighbors.kernels.draw_row import (
    Ranks,
    draw_row,
    draw_without_clones,
    has_no_clones,
    ranks_for,
    store_row,
)
from rwn_core.neighbors.kernels.kd_tree import find_leaf
from rwn_core.neighbors.kernels.knn_candidates import (
    Close,
    alike_until,
    close_for,
    empty_rows,
    farthest,
    order_by_levels,
    place_rows,
    set_edges,
    visit,
)
from rwn_core.neighbors.kernels.leaf_boxes import gap_to_boxes, hull_is_near
from rwn_core.neighbors.kernels.leaf_distances import Facing, facing_for
from rwn_core.neighbors.kernels.rank_row import Ranked, end_of_tie, entry_of, rank_row, room_for
from rwn_core.neighbors.kernels.row_results import nearest_squared
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH, store
from rwn_core.neighbors.kernels.tile_order import Order, nearest_tiles, order_for
from rwn_core.parallel.jit import jit_entry, jit_no_refcount

ROOM = 1 << 18  # candidates held at a time, unless one row alone has more


@jit_no_refcount
def _search(
    query: Side,
    leaf: int,
    rows: int,
    target: Side,
    need: int,
    unit: float,
    close: Close,
    facing: Facing,
    order: Order,
) -> bool:
    """Find the candidates of rows of one leaf, nearest tiles first; False for no room."""
    empty_rows(close, rows)
    # who agrees in most categories first: they are the nearest
    for which in range(len(query.shifts) - 1, -1, -1):
        place_rows(query, leaf, which, close, rows, facing)
        first = 0
        while first < rows:
            last = alike_until(query, leaf, which, close, first, rows)
            bound = set_edges(query, leaf, which, target, unit, close, first, last, facing)
            if bound >= 0 and not _visit_tiles(
                query, leaf, which, first, last, target, need, unit, close, facing, order, bound
            ):
                return False
            facing.edges[first:last] = -1
            first = last
    return True


@jit_no_refcount
def _visit_tiles(
    query: Side,
    leaf: int,
    which: int,
    first: int,
    last: int,
    target: Side,
    need: int,
    unit: float,
    close: Close,
    facing: Facing,
    order: Order,
    bound: float,
) -> bool:
    """Let some rows visit the tiles of a pass that are near; False for no room."""
    count = nearest_tiles(target, which, first, last, facing, order, bound)
    room = True
    for number in range(count):
        other = order.leaf[number]
        if room and order.apart[other] <= bound:
            room = visit(query, leaf, which, first, last, target, other, need, unit, close, facing)
            bound = farthest(facing, first, last)
    room = room and _visit_others(
        query, leaf, which, first, last, target, need, unit, close, facing, order, bound
    )
    for number in range(count):
        order.seen[order.leaf[number]] = False
    return room


@jit_no_refcount
def _visit_others(
    query: Side,
    leaf: int,
    which: int,
    first: int,
    last: int,
    target: Side,
    need: int,
    unit: float,
    close: Close,
    facing: Facing,
    order: Order,
    bound: float,
) -> bool:
    """Visit the tiles of a pass that are near and were not seen yet; False for no room."""
    leaves, room = len(target.starts) // 2, len(order.apart)
    hulls = (leaves + HULL - 1) // HULL
    for hull in range(hulls):
        number = which * hulls + hull
        if not hull_is_near(target.hulls, number, order.center, order.half, bound):
            continue
        for box in range(hull * HULL, min((hull + 1) * HULL, room), VECTOR_WIDTH):
            gap = gap_to_boxes(target.boxes, which * room + box, order.center, order.half)
            store(order.apart, (box,), gap)
        for other in range(hull * HULL, min((hull + 1) * HULL, leaves)):
            if order.apart[other] <= bound and not order.seen[other]:
                if not visit(
                    query, leaf, which, first, last, target, other, need, unit, close, facing
                ):
                    return False
                bound = farthest(facing, first, last)
    return True


@jit_no_refcount
def _settle_row(
    query: Side,
    position: int,
    target: Side,
    kept: int,
    row: Ranked,
    room: Ranks,
    wanted: Wanted,
    result: SearchResult,
) -> None:
    """Read sizes, radii and donors of the records that k governs from their ranked row."""
    if result.starts.size:
        store_row(query, position, target, kept, row, wanted, result, True)
        return
    for index in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[index]
        if result.within[record] >= wanted.k:
            continue
        own = wanted.own[record]
        # the record itself is in the first tie: before the k-th other, or tied with it
        head = row.head[entry_of(row, kept, wanted.k + (own >= 0))]
        size = row.weight[end_of_tie(row, kept, head)] - (own >= 0)
        result.sizes[record] = size
        result.kth[record] = row.squared[head]
        result.nearest[record] = nearest_squared(row, kept, size, own)
    if wanted.streams.size and has_no_clones(query, position, row, kept):
        draw_without_clones(query, position, target, row, room, wanted, result)
    elif wanted.streams.size:
        draw_row(query, position, target, kept, row, wanted, result, True)


@jit_no_refcount
def _rows_of_leaf(
    query: Side, rows: NDArray[np.int64], first: int, last: int, most: int
) -> tuple[int, int]:
    """The leaf of row rows[first], and where the next one begins, after `most` rows at most."""
    leaves = len(query.starts) // 2
    leaf = find_leaf(query.starts, leaves, rows[first])
    stop = query.starts[leaves + leaf]
    end = first
    while end < min(last, first + most) and rows[end] < stop:
        end += 1
    return leaf, end


@jit_entry
def nearest(
    query: Side,
    target: Side,
    wanted: Wanted,
    result: SearchResult,
    rows: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Settle the records of rows[first:last] that have fewer than k others within epsilon.

    Parameters
    ----------
    query, target : Side
    wanted : Wanted
    result : SearchResult
        `within` is known.
    rows : ndarray of int64
        Positions in `query`, ascending.
    first, last : int
    """
    leaves, width = len(query.starts) // 2, query.tiles.shape[2]
    need = min(wanted.k + 1, len(target.exact))
    room = 2 * need + 4 * target.tiles.shape[2]
    most = max(1, min(width, ROOM // room))
    close, row = close_for(most, room), room_for(1024)
    facing = facing_for(query, target)
    order, ranks = order_for(target), ranks_for(wanted)
    while first < last:
        leaf, end = _rows_of_leaf(query, rows, first, last, most)
        start = query.starts[leaves - 1 + leaf]
        for number in range(first, end):
            close.in_leaf[number - first] = rows[number] - start
        if len(query.coded):
            order_by_levels(query, leaf, close, end - first)
        if not _search(query, leaf, end - first, target, need, wanted.unit, close, facing, order):
            room *= 2  # ties without end
            most = max(1, most // 2)
            close = close_for(most, room)
            continue
        for here in range(end - first):
            position, count = start + close.in_leaf[here], close.held[here]
            if count > len(row.position):
                row = room_for(2 * count)
            row.position[:count] = close.position[here, :count]
            kept = rank_row(query.exact[position], target, np.inf, count, row)
            _settle_row(query, position, target, kept, row, ranks, wanted, result)
        first = end
