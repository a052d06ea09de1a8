"""Which leaves are near a box: by the boxes around many of them first, then by their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import HULL, Side
from rwn_core.neighbors.kernels.simd import (
    VECTOR_WIDTH,
    beyond,
    load,
    lowest,
    minus,
    multiply_add,
    plus,
    same,
    where_at_most,
)
from rwn_core.parallel.jit import jit_inline, jit_no_refcount


@jit_inline
def gap_to_boxes(boxes: NDArray[Any], first: int, center: NDArray[Any], half: NDArray[Any]) -> Any:
    """Squared distances of sixteen leaves' boxes, from `first` on, to another box."""
    gap = same(center.dtype.type(0))
    for axis in range(boxes.shape[1]):
        away = minus(load(boxes, (0, axis, first)), same(center[axis]))
        outside = beyond(away, plus(load(boxes, (1, axis, first)), same(half[axis])))
        gap = multiply_add(outside, outside, gap)
    return gap


@jit_inline
def hull_is_near(
    hulls: NDArray[np.float64], number: int, center: NDArray[Any], half: NDArray[Any], bound: float
) -> bool:
    """Whether the box around some leaves is within a squared distance of another box."""
    gap = 0.0
    for axis in range(hulls.shape[2]):
        away = abs(hulls[number, 0, axis] - np.float64(center[axis]))
        outside = away - hulls[number, 1, axis] - np.float64(half[axis])
        if outside > 0:
            gap += outside * outside
            if gap > bound:
                return False
    return gap <= bound


@jit_no_refcount
def leaves_near(
    target: Side,
    which: int,
    center: NDArray[Any],
    half: NDArray[Any],
    bound: Any,
    near: NDArray[np.int32],
) -> int:
    """List the leaves of a pass whose boxes are near another box.

    The boxes of leaves whose hull is near are looked at, sixteen at a time: that takes less than a
    walk through the tree.

    Parameters
    ----------
    target : Side
    which : int
        The pass.
    center, half : ndarray, shape (d,)
        Of the other box.
    bound : float
        The largest squared distance.
    near : ndarray of int32, shape (leaves,)
        Filled with leaf numbers, ascending.

    Returns
    -------
    int
        How many.
    """
    count = 0
    edge = same(center.dtype.type(bound))
    room = (len(near) + VECTOR_WIDTH - 1) // VECTOR_WIDTH * VECTOR_WIDTH
    hulls = (len(near) + HULL - 1) // HULL
    for hull in range(hulls):
        if not hull_is_near(target.hulls, which * hulls + hull, center, half, bound):
            continue
        for first in range(hull * HULL, min((hull + 1) * HULL, room), VECTOR_WIDTH):
            gap = gap_to_boxes(target.boxes, which * room + first, center, half)
            bits = where_at_most(gap, edge)
            while bits != 0:
                leaf = first + lowest(bits)
                bits &= bits - 1
                if leaf < len(near):
                    near[count] = leaf
                    count += 1
    return count
