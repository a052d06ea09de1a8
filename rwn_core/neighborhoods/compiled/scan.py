"""Scanning tiles: approximate squared distances of one point to a leaf, and of boxes to points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled_fast

# A slice of an array costs a count of its users, up and down: here tables come with row numbers.


@compiled_fast
def scan_tile(
    tiles: NDArray[Any], leaf: int, points: NDArray[Any], row: int, squared: NDArray[Any]
) -> None:
    """Write the squared distance of a point to every point of a tile.

    Parameters
    ----------
    tiles : ndarray, shape (leaves, d, width)
    leaf : int
    points : ndarray, shape (rows, d)
    row : int
    squared : ndarray, shape (width,)
    """
    _, dimensions, width = tiles.shape
    here = points[row, 0]
    for place in range(width):
        difference = tiles[leaf, 0, place] - here
        squared[place] = difference * difference
    axis = 1
    while axis + 4 <= dimensions:  # four at a time: fewer passes over `squared`
        p0, p1 = points[row, axis], points[row, axis + 1]
        p2, p3 = points[row, axis + 2], points[row, axis + 3]
        for place in range(width):
            d0 = tiles[leaf, axis, place] - p0
            d1 = tiles[leaf, axis + 1, place] - p1
            d2 = tiles[leaf, axis + 2, place] - p2
            d3 = tiles[leaf, axis + 3, place] - p3
            squared[place] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        axis += 4
    while axis < dimensions:
        here = points[row, axis]
        for place in range(width):
            difference = tiles[leaf, axis, place] - here
            squared[place] += difference * difference
        axis += 1


@compiled_fast
def count_within(squared: NDArray[Any], edge: Any) -> int:
    """How many squared distances are at most `edge`."""
    count = np.int32(0)
    for place in range(len(squared)):
        count += np.int32(squared[place] <= edge)
    return int(count)


@compiled_fast
def points_to_box(
    points: NDArray[Any], low: NDArray[Any], high: NDArray[Any], squared: NDArray[Any]
) -> None:
    """Write the squared distance of every point of a tile, shape (d, width), to one box."""
    dimensions, width = points.shape
    for place in range(width):
        squared[place] = 0
    for axis in range(dimensions):
        least, most = low[axis], high[axis]
        for place in range(width):
            gap = max(least - points[axis, place], points[axis, place] - most)
            gap = max(gap, gap * 0)
            squared[place] += gap * gap


@compiled_fast
def point_to_box(point: NDArray[Any], low: NDArray[Any], high: NDArray[Any], node: int) -> Any:
    """The squared distance of a point to the box of a node."""
    total = point[0] * 0
    for axis in range(len(point)):
        gap = max(low[node, axis] - point[axis], point[axis] - high[node, axis])
        gap = max(gap, gap * 0)
        total += gap * gap
    return total


@compiled_fast
def box_to_box(
    low: NDArray[Any], high: NDArray[Any], node: int, box: tuple[NDArray[Any], NDArray[Any]]
) -> Any:
    """The squared distance of a node's box to another box."""
    total = low[0, 0] * 0
    for axis in range(low.shape[1]):
        gap = max(low[node, axis] - box[1][axis], box[0][axis] - high[node, axis])
        gap = max(gap, gap * 0)
        total += gap * gap
    return total


@compiled_fast
def leaves_near_box(
    low: NDArray[Any],
    high: NDArray[Any],
    box: tuple[NDArray[Any], NDArray[Any]],
    reach: Any,
    stack: NDArray[np.int32],
    near: NDArray[np.int32],
) -> int:
    """List the leaves of a tree within a squared distance of a box.

    Parameters
    ----------
    low, high : ndarray, shape (nodes, d)
        Boxes of the tree.
    box : pair of ndarray, shape (d,)
    reach : float
        The largest squared distance.
    stack : ndarray of int32, shape (2 * levels + 2,)
        Room to work in.
    near : ndarray of int32, shape (leaves,)
        Filled with leaf numbers, ascending.

    Returns
    -------
    int
        How many.
    """
    inner = len(low) >> 1
    count, depth = 0, 1
    stack[0] = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if box_to_box(low, high, node, box) > reach:
            continue
        if node >= inner:
            near[count] = node - inner
            count += 1
        else:
            stack[depth], stack[depth + 1] = 2 * node + 2, 2 * node + 1
            depth += 2
    return count
