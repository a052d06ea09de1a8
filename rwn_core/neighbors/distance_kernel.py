"""Distances of the points of one leaf to the tile of another: rough ones with a bound, exact ones.

The squared distance of x and y is taken from the tile's center c, with x' = c - x and y' = y - c,
as |x'|^2 + 2 (|y'|^2 / 2 + x'y'): one product for each coordinate, and no number in it is larger
than the two leaves and what is between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.neighbors.index import IndexArrays
from rwn_core.parallel.jit import jit_fused, jit_inline, jit_no_refcount

SLACK = 1e-6  # ties go beyond a radius by 1e-9, and chains of ties somewhat further
UNDERFLOW = 1e-44  # more than a product or half of one loses below the smallest single numbers


@jit_no_refcount
def widened_edge(squared: float, norm: float, dimensions: int, unit: float) -> float:
    """Return the rough squared distance within which every point within `squared` is found."""
    # The other point's norm is at most norm + sqrt(squared): see `error_between`.
    if squared == np.inf:
        return np.inf
    radius = np.sqrt(squared)
    error = 4 * unit * (norm + radius)
    rounding = 2 * (dimensions + 3) * (unit * squared + UNDERFLOW)
    return float((squared + 2 * radius * error + error * error + rounding) * (1 + SLACK))


@jit_inline
def exact_squared(
    point: Floats, points: Floats, levels: Integers, squares: Floats, row: int
) -> float:
    """The squared distance of a point to a row, summed in column order: the bits of `distance`."""
    total = 0.0
    if len(levels) == 0:
        for axis in range(len(point)):
            difference = point[axis] - points[row, axis]
            total += difference * difference
        return total
    for axis in range(len(point)):
        one = point[axis]
        two = points[row, axis]
        if levels[axis] < 0:
            difference = one - two
            total += difference * difference
        elif one != two:
            total += squares[levels[axis] + np.int64(min(one, two))]
            total += squares[levels[axis] + np.int64(max(one, two))]
    return total


@jit_inline
def error_between(
    query: IndexArrays, leaf: int, target: IndexArrays, tile: int, unit: float
) -> float:
    """Return the largest error of a rough squared distance of a leaf's points to a tile's.

    The points, x' and y' from the center, are at most `far` = |x'| + |y'| apart. A coordinate is
    off by unit times the point's norm from the center of the rotation, from its leaf's center and
    from the tile's, so the difference of two points by e = 2 unit (norm + far), and its square by
    2 far e + e^2. The distance is summed up as |x'|^2 + |y'|^2 - 2 x'y': d products each time,
    none above far^2. The first is doubled, and the second taken three times, for what is left out
    (rounding of the halves, of the bound itself). Products of very small numbers are off by a
    fixed amount instead.
    """
    dimensions = query.boxes.shape[1]
    apart = 0.0
    for axis in range(dimensions):
        between = np.float64(query.boxes[0, axis, leaf]) - np.float64(target.boxes[0, axis, tile])
        apart += between * between
    far = np.sqrt(apart) + query.spans[leaf] + target.spans[tile]
    error = 4 * unit * (query.norms[leaf] + far)
    rounding = 3 * (dimensions + 3) * (unit * far * far + UNDERFLOW)
    return float(2 * far * error + error * error + rounding)


@jit_fused
def leaf_gaps(
    boxes: NDArray[Any],
    first: int,
    last: int,
    center: NDArray[Any],
    half: NDArray[Any],
    gaps: NDArray[Any],
) -> None:
    """Write the squared distances of a box to those of the leaves `first` to `last` - 1."""
    # Shapes: boxes (2, d, leaves); center, half (d,); gaps (at least last - first,).
    count = last - first
    zero = gaps.dtype.type(0)
    for leaf in range(count):
        gaps[leaf] = zero
    for axis in range(len(center)):
        middles, halves = boxes[0, axis, first:last], boxes[1, axis, first:last]
        middle = center[axis]
        own = half[axis]
        for leaf in range(count):
            outside = max(abs(middles[leaf] - middle) - (halves[leaf] + own), zero)
            gaps[leaf] += outside * outside


@jit_fused
def rows_near(work: Any, first: int, last: int, boxes: NDArray[Any], tile: int) -> int:
    """Count the points `first` to `last` - 1 that have a tile's box within their squared edge."""
    # Of shapes: boxes (2, d, leaves); `work` is a `search_kernel.Workspace`.
    # indices from 0: numba would else look for negative ones, and the loops would not be vectors
    zero = work.gaps.dtype.type(0)
    count = last - first
    lengths = work.norms[first:last]
    apart = work.gaps[first:last]
    for row in range(count):
        lengths[row] = zero
        apart[row] = zero
    for axis in range(len(work.points)):
        middle, half = boxes[0, axis, tile], boxes[1, axis, tile]
        own = work.points[axis, first:last]
        differences = work.local[axis, first:last]
        for row in range(count):
            away = middle - own[row]
            differences[row] = away
            lengths[row] += away * away
            outside = max(abs(away) - half, zero)
            apart[row] += outside * outside
    found = 0
    for row in range(count):
        work.near[found] = first + row
        found += apart[row] <= work.edges[first + row]
    return found


@jit_fused
def write_products(
    tile: NDArray[Any], local: NDArray[Any], row: int, products: NDArray[Any]
) -> None:
    """Write half of a point's squared distances to a tile's, without half of its norm."""
    # Shapes: tile (d + 1, width); local (d, rows); products (width,).
    dimensions = len(local)
    halves = tile[len(local)]
    axis = dimensions % 4  # a sum is loaded once for four coordinates, or for all that are left
    t0, t1, t2 = tile[0], tile[1 % dimensions], tile[2 % dimensions]
    a0, a1, a2 = local[0, row], local[1 % dimensions, row], local[2 % dimensions, row]
    if axis == 0:
        for entry in range(len(products)):
            products[entry] = halves[entry]
    elif axis == 1:
        for entry in range(len(products)):
            products[entry] = halves[entry] + t0[entry] * a0
    elif axis == 2:
        for entry in range(len(products)):
            products[entry] = halves[entry] + t0[entry] * a0 + t1[entry] * a1
    else:
        for entry in range(len(products)):
            near = halves[entry] + t0[entry] * a0 + t1[entry] * a1
            products[entry] = near + t2[entry] * a2
    while axis < dimensions:
        t0, t1, t2, t3 = tile[axis], tile[axis + 1], tile[axis + 2], tile[axis + 3]
        a0, a1 = local[axis, row], local[axis + 1, row]
        a2, a3 = local[axis + 2, row], local[axis + 3, row]
        for entry in range(len(products)):
            near = products[entry] + t0[entry] * a0 + t1[entry] * a1
            products[entry] = near + t2[entry] * a2 + t3[entry] * a3
        axis += 4


@jit_inline
def count_hits(products: NDArray[Any], most: float) -> int:
    """Count the entries of a tile with a product of at most `most`."""
    # Shapes: products (width,).
    hits = np.int32(0)  # as wide as a product, for vectors of equal length
    for entry in range(len(products)):
        hits = np.int32(hits + np.int32(products[entry] <= most))
    return int(hits)


@jit_inline
def list_hits(products: NDArray[Any], most: float, entries: Integers) -> int:
    """Write the entries of a tile with a product of at most `most`; return their number."""
    if count_hits(products, most) == 0:
        return 0
    count = 0
    for entry in range(len(products)):
        entries[count] = entry
        count += products[entry] <= most
    return count
