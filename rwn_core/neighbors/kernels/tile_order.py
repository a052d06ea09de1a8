"""The tiles that are visited first: those nearest to some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import HULL, Side
from rwn_core.neighbors.kernels.leaf_boxes import gap_to_boxes, hull_is_near
from rwn_core.neighbors.kernels.leaf_distances import Facing
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH, store
from rwn_core.neighbors.kernels.sorting import smallest, sort_pairs
from rwn_core.parallel.jit import jit_internal, jit_no_refcount

FIRST = 16  # tiles that are visited in the order of their distances
NEAREST = 4  # hulls whose tiles these are


class Order(NamedTuple):
    """The order in which tiles are visited.

    Attributes
    ----------
    center, half, nothing : ndarray, shape (d,)
        The box of the rows; zeros.
    apart : ndarray, shape (a multiple of VECTOR_WIDTH,)
        Squared distances of the leaves' boxes to it, of those that were looked at.
    hull : ndarray of int64, shape (NEAREST,)
        The hulls that are nearest to its center; filled up with -1.
    near : ndarray of float64, shape (NEAREST,)
        Their squared distances.
    leaf : ndarray of int32, shape (NEAREST * HULL,)
        Their leaves, the nearest at first.
    toward : ndarray, shape (NEAREST * HULL,)
        Squared distances of these leaves' boxes to the center.
    seen : ndarray of bool, shape (leaves,)
        Those that were visited first.
    """

    center: NDArray[Any]
    half: NDArray[Any]
    nothing: NDArray[Any]
    apart: NDArray[Any]
    hull: NDArray[np.int64]
    near: NDArray[np.float64]
    leaf: NDArray[np.int32]
    toward: NDArray[Any]
    seen: NDArray[np.bool_]


@jit_internal
def order_for(target: Side) -> Order:
    """Room for the tiles of any pass of `target`."""
    leaves, dimensions = len(target.starts) // 2, target.centers.shape[1]
    room, kind = -(-leaves // VECTOR_WIDTH) * VECTOR_WIDTH, target.centers.dtype
    return Order(
        np.empty(dimensions, kind),
        np.empty(dimensions, kind),
        np.zeros(dimensions, kind),
        np.empty(room, kind),
        np.empty(NEAREST, np.int64),
        np.empty(NEAREST),
        np.empty(NEAREST * HULL, np.int32),
        np.empty(NEAREST * HULL, kind),
        np.zeros(leaves, np.bool_),
    )


@jit_no_refcount
def _box_of(
    points: NDArray[Any], first: int, last: int, center: NDArray[Any], half: NDArray[Any]
) -> None:
    """The box of some points."""
    for axis in range(len(points)):
        least = most = points[axis, first]
        for index in range(first + 1, last):
            least, most = min(least, points[axis, index]), max(most, points[axis, index])
        center[axis] = least + (most - least) / 2
        half[axis] = max(most - center[axis], center[axis] - least) * (1 + 1e-6)


@jit_no_refcount
def nearest_tiles(
    target: Side, which: int, first: int, last: int, facing: Facing, order: Order, bound: float
) -> int:
    """Put the tiles of a pass first that are nearest to the box of some rows; how many these are.

    Only those count that are within `bound` of it, a squared distance.
    """
    leaves, room = len(target.starts) // 2, len(order.apart)
    _box_of(facing.points, first, last, order.center, order.half)
    _nearest_hulls(target.hulls, which, (leaves + HULL - 1) // HULL, order, bound)
    count = 0
    for hull in order.hull:
        if hull < 0:
            continue
        for begin in range(hull * HULL, min((hull + 1) * HULL, room), VECTOR_WIDTH):
            box = which * room + begin
            gap = gap_to_boxes(target.boxes, box, order.center, order.half)
            store(order.apart, (begin,), gap)
            gap = gap_to_boxes(target.boxes, box, order.center, order.nothing)
            store(order.toward, (count,), gap)
            into = count
            for other in range(begin, min(begin + VECTOR_WIDTH, leaves)):
                if order.apart[other] <= bound:
                    order.leaf[count] = other
                    order.toward[count] = order.toward[into + other - begin]
                    count += 1
    if count == 0:
        return 0
    nearest_ones = min(FIRST, count)
    smallest(order.toward, order.leaf, count, nearest_ones - 1)
    sort_pairs(order.toward, order.leaf, 0, nearest_ones)
    for number in range(nearest_ones):
        order.seen[order.leaf[number]] = True
    return nearest_ones


@jit_no_refcount
def _nearest_hulls(
    hulls: NDArray[np.float64], which: int, count: int, order: Order, bound: float
) -> None:
    """Find the hulls of a pass that are nearest to the center of the rows' box, in their order.

    Only those within a squared distance of the box.
    """
    order.near[:] = np.inf
    order.hull[:] = -1
    for hull in range(count):
        if not hull_is_near(hulls, which * count + hull, order.center, order.half, bound):
            continue
        gap = 0.0
        for axis in range(hulls.shape[2]):
            away = abs(hulls[which * count + hull, 0, axis] - np.float64(order.center[axis]))
            outside = away - hulls[which * count + hull, 1, axis]
            if outside > 0:
                gap += outside * outside
        place = NEAREST - 1
        if gap >= order.near[place]:
            continue
        while place > 0 and gap < order.near[place - 1]:
            order.near[place], order.hull[place] = order.near[place - 1], order.hull[place - 1]
            place -= 1
        order.near[place], order.hull[place] = gap, hull
    for place in range(1, NEAREST):  # in their order, so that the last one may be cut off
        here = place
        while here > 0 and order.hull[here] < order.hull[here - 1]:
            order.hull[here - 1], order.hull[here] = order.hull[here], order.hull[here - 1]
            here -= 1
