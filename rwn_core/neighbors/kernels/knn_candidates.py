"""The candidates for the k nearest: added tile by tile, and kept few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.agreement import (
    copy_agreeing,
    keep_differing,
    only_passes_tell,
    shift_of,
)
from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.error_bound import SLACK, widened_edge
from rwn_core.neighbors.kernels.leaf_distances import (
    Facing,
    copy_kept,
    error_between,
    look,
    product_at,
    scan,
)
from rwn_core.neighbors.kernels.sorting import smallest, sort_pairs
from rwn_core.parallel.jit import jit_inline, jit_internal, jit_no_refcount

MOST_LEVELS = float(1 << 26)  # of a category; the number of a level of two is exact


class Close(NamedTuple):
    """The candidates of some rows of one query leaf.

    Attributes
    ----------
    in_leaf : ndarray of int64, shape (rows,)
        The rows' numbers in their leaf.
    position : ndarray of int32, shape (rows, room)
        Rows of the target.
    rough : ndarray of float64, shape (rows, room)
        Their approximate squared distances.
    held, tight : ndarray of int64, shape (rows,)
        How many there are, and how many there were when the row's bound was last set.
    error, bound : ndarray of float64, shape (rows,)
        The largest error of the approximate distances, and how far a candidate may lie.
    """

    in_leaf: NDArray[np.int64]
    position: NDArray[np.int32]
    rough: NDArray[np.float64]
    held: NDArray[np.int64]
    tight: NDArray[np.int64]
    error: NDArray[np.float64]
    bound: NDArray[np.float64]


@jit_internal
def close_for(rows: int, room: int) -> Close:
    """Room for the candidates of so many rows, `room` each."""
    return Close(
        np.empty(rows, np.int64),
        np.empty((rows, room), np.int32),
        np.empty((rows, room)),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty(rows),
    )


@jit_no_refcount
def empty_rows(close: Close, rows: int) -> None:
    """Begin with no candidates for the first rows."""
    for row in range(rows):
        close.held[row], close.tight[row] = 0, 0
        close.error[row], close.bound[row] = 0.0, np.inf


@jit_inline
def _position(query: Side, leaf: int, close: Close, row: int) -> int:
    return int(query.starts[len(query.starts) // 2 - 1 + leaf] + close.in_leaf[row])


@jit_no_refcount
def order_by_levels(query: Side, leaf: int, close: Close, rows: int) -> None:
    """Bring rows together that have the same levels."""
    for row in range(rows):
        place, key = _position(query, leaf, close, row), 0.0
        for number in range(len(query.coded)):
            key = key * MOST_LEVELS + query.exact[place, query.coded[number]]
        close.bound[row] = key
    sort_pairs(close.bound, close.in_leaf, 0, rows)


@jit_no_refcount
def place_rows(query: Side, leaf: int, which: int, close: Close, rows: int, facing: Facing) -> None:
    """Bring the rows close.in_leaf[:rows] of a leaf before the tiles of a pass, in this order."""
    mine = which * (len(query.starts) // 2) + leaf
    facing.edges[:] = -1
    for row in range(rows):
        for axis in range(facing.points.shape[0]):
            point = query.centers[mine, axis] + query.tiles[mine, axis, close.in_leaf[row]]
            facing.points[axis, row] = point


@jit_no_refcount
def alike_until(query: Side, leaf: int, which: int, close: Close, first: int, rows: int) -> int:
    """Where the rows end that have the same levels as the first of what a pass agrees in."""
    here, last = _position(query, leaf, close, first), first + 1
    while last < rows:
        there = _position(query, leaf, close, last)
        for number in range(len(query.coded)):
            column = query.coded[number]
            if which >> number & 1 and query.exact[here, column] != query.exact[there, column]:
                return last
        last += 1
    return last


@jit_no_refcount
def set_edges(
    query: Side,
    leaf: int,
    which: int,
    target: Side,
    unit: float,
    close: Close,
    first: int,
    last: int,
    facing: Facing,
) -> float:
    """Let some rows look at the tiles of a pass; how far the farthest of them looks."""
    for row in range(first, last):
        facing.edges[row] = _edge(query, leaf, which, target, row, close, unit)
    return farthest(facing, first, last)


@jit_no_refcount
def farthest(facing: Facing, first: int, last: int) -> float:
    """How far the farthest of some rows looks; negative if none does."""
    bound = -1.0
    for row in range(first, last):
        bound = max(bound, facing.edges[row])
    return bound


@jit_inline
def _limit(query: Side, leaf: int, which: int, target: Side, row: int, close: Close) -> float:
    """How far a candidate of a row may lie from it in a pass; negative where none may."""
    if len(query.levels) == 0:
        return float(close.bound[row])
    bound = close.bound[row] - shift_of(query, which, _position(query, leaf, close, row))
    return float(min(bound, target.far)) if which > 0 else float(bound)


@jit_no_refcount
def _edge(
    query: Side, leaf: int, which: int, target: Side, row: int, close: Close, unit: float
) -> float:
    """`_limit` in rotated coordinates."""
    limit = _limit(query, leaf, which, target, row, close)
    if limit < 0 or limit == np.inf:
        return limit
    norm = query.norms[which * (len(query.starts) // 2) + leaf]
    return widened_edge(limit, norm, query.centers.shape[1], unit)


@jit_no_refcount
def _tighten(close: Close, row: int, need: int) -> bool:
    """Set a row's bound anew, and drop what is beyond it; whether there was reason to.

    All distances are approximate: that of the last one needed may be too small by the error,
    a candidate's too large by it, and ties go somewhat further.
    """
    count = close.held[row]
    if count < need or count - close.tight[row] < need:
        return False
    rough, position = close.rough[row], close.position[row]
    kth = smallest(rough, position, count, need - 1)
    close.bound[row] = (max(kth, 0.0) + close.error[row]) * (1 + 2 * SLACK)
    tight = 0
    for entry in range(count):
        if rough[entry] <= close.bound[row] + close.error[row]:
            position[tight], rough[tight] = position[entry], rough[entry]
            tight += 1
    close.held[row] = close.tight[row] = tight
    return True


@jit_inline
def _add(
    close: Close,
    query: Side,
    leaf: int,
    row: int,
    target: Side,
    which: int,
    point: int,
    first: int,
    error: float,
    facing: Facing,
) -> None:
    """Add the entries of a tile that were hit, and are in the pass, to a row's candidates."""
    position, rough, held = close.position[row], close.rough[row], close.held[row]
    coded, here = len(target.levels) > 0, _position(query, leaf, close, row)
    if not coded or (which == 0 and only_passes_tell(target)):
        count = copy_kept(facing, row, point, first, position, rough, held)
        if coded:
            count = keep_differing(query, here, target, position, rough, held, count)
    else:
        most, error = close.bound[row], 0.0
        count = copy_agreeing(
            query, here, target, which, facing, point, first, most, position, rough, held
        )
    if count > held:
        close.held[row] = count
        close.error[row] = max(close.error[row], error)


@jit_inline
def visit(
    query: Side,
    leaf: int,
    which: int,
    first_row: int,
    last_row: int,
    target: Side,
    other: int,
    need: int,
    unit: float,
    close: Close,
    facing: Facing,
) -> bool:
    """Add what a tile has for the rows; whether there is room for another tile.

    Parameters
    ----------
    query : Side
    leaf : int
        Of the rows.
    which : int
        The pass.
    first_row, last_row : int
        Which rows look.
    target : Side
    other : int
        The tile's leaf.
    need : int
        How many others each row needs, itself included.
    unit : float
        Relative error of one rotated coordinate.
    close : Close
    facing : Facing
    """
    leaves = len(target.starts) // 2
    tile = which * leaves + other
    rows = look(facing, first_row, last_row, target, tile)
    if rows == 0:
        return True
    width = target.tiles.shape[2]
    first = target.starts[leaves - 1 + other]
    error = error_between(query, which * (len(query.starts) // 2) + leaf, target, tile, unit)
    for number in range(0, rows, 2):
        one, two = facing.near[number], facing.near[min(number + 1, rows - 1)]
        most = product_at(facing, one, _limit(query, leaf, which, target, one, close) + error)
        most_of_two = product_at(
            facing, two, _limit(query, leaf, which, target, two, close) + error
        )
        scan(facing, one, two, target, tile, most, most_of_two)
        _add(close, query, leaf, one, target, which, 0, first, error, facing)
        if two != one:
            _add(close, query, leaf, two, target, which, 1, first, error, facing)
    room = True
    for number in range(rows):
        row = facing.near[number]
        if _tighten(close, row, need):
            facing.edges[row] = _edge(query, leaf, which, target, row, close, unit)
        room &= close.held[row] + width <= close.position.shape[1]
    return room
