"""The k nearest others of records whose radius holds fewer, ties included."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled
from rwn_core.neighborhoods.compiled.drawing import draw_row, store_row
from rwn_core.neighborhoods.compiled.guard import SLACK, guard, norm_of
from rwn_core.neighborhoods.compiled.kd_tree import find_leaf
from rwn_core.neighborhoods.compiled.ordering import smallest
from rwn_core.neighborhoods.compiled.ranking_row import (
    Ranked,
    end_of_tie,
    entry_of,
    rank_row,
    room_for,
)
from rwn_core.neighborhoods.compiled.scan import point_to_box, scan_tile
from rwn_core.neighborhoods.compiled.settling import nearest_squared
from rwn_core.neighborhoods.compiled.side import Found, Side, Wanted


@compiled
def _reach(kth: float, norm: float, dimensions: int, unit: float) -> float:
    """How far a candidate may lie, if as many rows as needed lie within `kth`.

    All distances here are approximate: kth may be too small by one guard, a candidate's
    distance too large by another, and ties reach somewhat further.
    """
    wide = kth + guard(kth, norm, dimensions, unit)
    wide *= 1 + 2 * SLACK
    return float((wide + guard(wide, norm, dimensions, unit)) * (1 + SLACK))


@compiled
def _candidates(
    point: NDArray[Any], target: Side, need: int, norm: float, unit: float
) -> NDArray[np.int32]:
    """Rows that may be among the `need` nearest, or tie with one: depth first, near child first."""
    leaves, dimensions, width = target.tiles.shape
    position = np.empty(2 * need + 2 * width, np.int32)
    approximate = np.empty(2 * need + 2 * width, target.tiles.dtype)
    squared, points = np.empty(width, target.tiles.dtype), point.reshape(1, -1)
    nodes, gaps = np.empty(128, np.int64), np.empty(128, target.tiles.dtype)
    reach, count, tight, depth = np.inf, 0, 0, 1
    nodes[0], gaps[0] = 0, 0
    while depth > 0:
        depth -= 1
        node = nodes[depth]
        if gaps[depth] > reach:
            continue
        while node < leaves - 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_gap = point_to_box(point, target.low, target.high, near)
            far_gap = point_to_box(point, target.low, target.high, far)
            if far_gap < near_gap:
                near, far, near_gap, far_gap = far, near, far_gap, near_gap
            if far_gap <= reach:
                nodes[depth], gaps[depth] = far, far_gap
                depth += 1
            node = near if near_gap <= reach else 2 * leaves
        if node >= 2 * leaves:
            continue
        scan_tile(target.tiles, node - leaves + 1, points, 0, squared)
        for entry in range(width):
            if squared[entry] <= reach:
                position[count] = target.starts[node] + entry
                approximate[count] = squared[entry]
                count += 1
        if count >= need and count - tight > need:
            kth = np.float64(smallest(approximate, position, count, need - 1))
            reach = _reach(kth, norm, dimensions, unit)
            tight = 0
            for entry in range(count):
                if approximate[entry] <= reach:
                    position[tight], approximate[tight] = position[entry], approximate[entry]
                    tight += 1
            count = tight
        if count + width > len(position):
            position, approximate = _longer(position), _longer(approximate)
    return position[:count]


@compiled
def _longer(array: NDArray[Any]) -> NDArray[Any]:
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _settle_row(
    query: Side, position: int, target: Side, kept: int, row: Ranked, wanted: Wanted, found: Found
) -> None:
    """Read sizes, radii and donors of the records that k governs from their ranked row."""
    if found.starts.size:
        store_row(query, position, target, kept, row, wanted, found, True)
        return
    for place in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[place]
        if found.within[record] >= wanted.k:
            continue
        own = wanted.own[record]
        # the record itself is in the first tie: before the k-th other, or tied with it
        head = row.head[entry_of(row, kept, wanted.k + (own >= 0))]
        size = row.weight[end_of_tie(row, kept, head)] - (own >= 0)
        found.sizes[record] = size
        found.kth[record] = row.squared[head]
        found.nearest[record] = nearest_squared(row, kept, size, own)
    if wanted.streams.size:
        draw_row(query, position, target, kept, row, wanted, found, True)


@compiled
def nearest(
    query: Side,
    target: Side,
    wanted: Wanted,
    found: Found,
    rows: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Settle the records of rows[first:last] that have fewer than k others within epsilon.

    Parameters
    ----------
    query, target : Side
    wanted : Wanted
    found : Found
        `within` is known.
    rows : ndarray of int64
        Positions in `query`.
    first, last : int
    """
    leaves, dimensions, _ = query.tiles.shape
    need = min(wanted.k + 1, len(target.exact))
    row = room_for(1024)
    point = np.empty(dimensions, query.tiles.dtype)
    for position in rows[first:last]:
        leaf = find_leaf(query.starts, leaves, position)
        place = position - query.starts[leaves - 1 + leaf]
        point[:] = query.tiles[leaf, :, place]
        norm = norm_of(query.tiles[leaf], place)
        candidates = _candidates(point, target, need, norm, wanted.unit)
        if len(candidates) > len(row.position):
            row = room_for(2 * len(candidates))
        row.position[: len(candidates)] = candidates
        kept = rank_row(query.exact[position], target, np.inf, len(candidates), row)
        _settle_row(query, position, target, kept, row, wanted, found)
