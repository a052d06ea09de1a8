"""The points of one leaf before the tile of another: which are near it, and what lies near them.

The squared distance of x and y is taken from the tile's center c, with x' = c - x and y' = y - c,
as |x'|^2 + 2 (|y'|^2 / 2 + x'y'): one product for each coordinate, and no number in it is larger
than the two leaves and what is between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.error_bound import error_bound
from rwn_core.neighbors.kernels.simd import (
    VECTOR_WIDTH,
    beyond,
    load,
    lowest,
    minus,
    multiply_add,
    same,
    store,
    where_at_most,
)
from rwn_core.parallel.jit import jit_inline, jit_internal, jit_no_refcount

HALF_BLOCK = 2 * VECTOR_WIDTH  # the width of a tile is a multiple of this
BLOCK = 2 * HALF_BLOCK  # entries of a tile whose distances are summed side by side


class Facing(NamedTuple):
    """Points of one query leaf, and how a tile looks from them.

    Attributes
    ----------
    points : ndarray, shape (d, width)
        Rotated.
    edges : ndarray, shape (width,)
        Squared distances within which a tile's box is looked at; -1 for points that are left out.
    local : ndarray, shape (d, width)
        The tile's center less the points.
    norms : ndarray, shape (width,)
        The squared distances of the points from the tile's center.
    near : ndarray of int64, shape (width,)
        The points that the tile's box is within the edge of.
    products : ndarray, shape (2, width of the target's tiles)
        Half of the squared distance of two points to each of the tile's, without half of their
        norms.
    kept : ndarray of int64, shape (2, width of the target's tiles / BLOCK, rounded up)
        For both, a bit for each of the tile's points that is within the edge.
    """

    points: NDArray[Any]
    edges: NDArray[Any]
    local: NDArray[Any]
    norms: NDArray[Any]
    near: NDArray[np.int64]
    products: NDArray[Any]
    kept: NDArray[np.int64]


@jit_internal
def facing_for(query: Side, target: Side) -> Facing:
    """Room for any leaf of `query` before any tile of `target`."""
    _, height, width = query.tiles.shape
    other = target.tiles.shape[2]
    points = np.empty((height - 1, width), query.tiles.dtype)
    return Facing(
        points,
        np.empty(width, query.tiles.dtype),
        np.empty_like(points),
        np.empty(width, query.tiles.dtype),
        np.empty(width, np.int64),
        np.empty((2, other), target.tiles.dtype),
        np.zeros((2, (other + BLOCK - 1) // BLOCK), np.int64),
    )


@jit_no_refcount
def set_points(query: Side, leaf: int, facing: Facing) -> None:
    """Bring a leaf's points before the tiles; leaves are counted over all passes."""
    for axis in range(facing.points.shape[0]):
        for index in range(facing.points.shape[1]):
            point = query.centers[leaf, axis] + query.tiles[leaf, axis, index]
            facing.points[axis, index] = point


@jit_inline
def look(facing: Facing, begin: int, end: int, target: Side, other: int) -> int:
    """How many of some points are near a tile's box; fills `local`, `norms` and `near`."""
    dimensions = facing.points.shape[0]
    count = 0
    for first in range(begin // VECTOR_WIDTH * VECTOR_WIDTH, end, VECTOR_WIDTH):
        norm = same(facing.norms.dtype.type(0))
        gap = norm
        for axis in range(dimensions):
            point = load(facing.points, (axis, first))
            away = minus(same(target.centers[other, axis]), point)
            store(facing.local, (axis, first), away)
            norm = multiply_add(away, away, norm)
            outside = beyond(away, same(target.halves[other, axis]))
            gap = multiply_add(outside, outside, gap)
        store(facing.norms, (first,), norm)
        bits = where_at_most(gap, load(facing.edges, (first,)))
        while bits != 0:
            facing.near[count] = first + lowest(bits)
            bits &= bits - 1
            count += 1
    return count


@jit_inline
def error_between(query: Side, leaf: int, target: Side, other: int, unit: float) -> float:
    """The largest error of a squared distance of a leaf's points to a tile's.

    Parameters
    ----------
    query : Side
    leaf : int
    target : Side
    other : int
    unit : float
        Relative error of one rotated coordinate.
    """
    dimensions = query.centers.shape[1]
    apart = 0.0
    for axis in range(dimensions):
        between = np.float64(query.centers[leaf, axis]) - np.float64(target.centers[other, axis])
        apart += between * between
    far = np.sqrt(apart) + query.spans[leaf] + target.spans[other]
    return error_bound(query.norms[leaf], far, dimensions, unit)


@jit_inline
def scan(
    facing: Facing, one: int, two: int, target: Side, other: int, most: Any, most_of_two: Any
) -> None:
    """Find which of a tile's products are at most `most`, for two points side by side.

    It fills `products` and `kept`. What is loaded of the tile serves both points.
    """
    tiles, local, products = target.tiles, facing.local, facing.products
    dimensions, width = local.shape[0], tiles.shape[2]
    edge, edge_of_two = same(most), same(most_of_two)
    first = 0
    while first + BLOCK <= width:
        second, third, fourth = (
            first + VECTOR_WIDTH,
            first + 2 * VECTOR_WIDTH,
            first + 3 * VECTOR_WIDTH,
        )
        p0 = q0 = load(tiles, (other, dimensions, first))
        p1 = q1 = load(tiles, (other, dimensions, second))
        p2 = q2 = load(tiles, (other, dimensions, third))
        p3 = q3 = load(tiles, (other, dimensions, fourth))
        for axis in range(dimensions):
            away, away_of_two = same(local[axis, one]), same(local[axis, two])
            t0 = load(tiles, (other, axis, first))
            t1 = load(tiles, (other, axis, second))
            t2 = load(tiles, (other, axis, third))
            t3 = load(tiles, (other, axis, fourth))
            p0, q0 = multiply_add(t0, away, p0), multiply_add(t0, away_of_two, q0)
            p1, q1 = multiply_add(t1, away, p1), multiply_add(t1, away_of_two, q1)
            p2, q2 = multiply_add(t2, away, p2), multiply_add(t2, away_of_two, q2)
            p3, q3 = multiply_add(t3, away, p3), multiply_add(t3, away_of_two, q3)
        bits = _keep(products, 0, first, p0, p1, edge)
        bits |= _keep(products, 0, third, p2, p3, edge) << (2 * VECTOR_WIDTH)
        facing.kept[0, first // BLOCK] = bits
        bits = _keep(products, 1, first, q0, q1, edge_of_two)
        bits |= _keep(products, 1, third, q2, q3, edge_of_two) << (2 * VECTOR_WIDTH)
        facing.kept[1, first // BLOCK] = bits
        first += BLOCK
    if first < width:  # half a block is left
        second = first + VECTOR_WIDTH
        p0 = q0 = load(tiles, (other, dimensions, first))
        p1 = q1 = load(tiles, (other, dimensions, second))
        for axis in range(dimensions):
            away, away_of_two = same(local[axis, one]), same(local[axis, two])
            t0, t1 = load(tiles, (other, axis, first)), load(tiles, (other, axis, second))
            p0, q0 = multiply_add(t0, away, p0), multiply_add(t0, away_of_two, q0)
            p1, q1 = multiply_add(t1, away, p1), multiply_add(t1, away_of_two, q1)
        facing.kept[0, first // BLOCK] = _keep(products, 0, first, p0, p1, edge)
        facing.kept[1, first // BLOCK] = _keep(products, 1, first, q0, q1, edge_of_two)


@jit_inline
def _keep(products: NDArray[Any], point: int, first: int, one: Any, two: Any, edge: Any) -> int:
    """Write down 32 products; a bit for each that is at most the edge."""
    store(products, (point, first), one)
    store(products, (point, first + VECTOR_WIDTH), two)
    return int(where_at_most(one, edge) | (where_at_most(two, edge) << VECTOR_WIDTH))


@jit_inline
def product_at(facing: Facing, index: int, squared: float) -> Any:
    """The product of a point with what lies at a squared distance from it."""
    return facing.norms.dtype.type((squared - np.float64(facing.norms[index])) / 2)


@jit_inline
def copy_kept(
    facing: Facing,
    index: int,
    point: int,
    first: int,
    position: NDArray[np.int32],
    rough: NDArray[np.float64],
    count: int,
) -> int:
    """Append the entries of a tile that were kept to a point's candidates.

    Parameters
    ----------
    facing : Facing
    index : int
        The point's.
    point : {0, 1}
        Which of the two of `scan` it was.
    first : int
        The tile's first position.
    position, rough : ndarray
        Filled from entry `count` on: positions, and approximate squared distances.
    count : int

    Returns
    -------
    int
        How many candidates there are now.
    """
    norm = np.float64(facing.norms[index])
    for block in range(facing.kept.shape[1]):
        bits = facing.kept[point, block]
        while bits != 0:
            entry = block * BLOCK + lowest(bits)
            bits &= bits - 1
            position[count] = first + entry
            rough[count] = norm + 2 * np.float64(facing.products[point, entry])
            count += 1
    return count
