"""A k-d tree whose leaves are tiles: points side by side, one coordinate after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_no_refcount

SAMPLED = 500  # rows, at least, that show where an inner node is widest

# The tree is complete: node v has the children 2 v + 1 and 2 v + 2, and the leaves are the last
# `leaves` of the 2 * leaves - 1 nodes. Nodes on one level hold equal numbers of rows, give or
# take one, so positions alone say which leaf a row is in.


@jit_no_refcount
def _before(values: NDArray[Any], one: int, two: int) -> bool:
    # row numbers settle ties: the tree does not depend on how the selection swaps
    return values[one] < values[two] or (values[one] == values[two] and one < two)


@jit_no_refcount
def _select(values: NDArray[Any], order: NDArray[np.int32], start: int, stop: int, at: int) -> None:
    """Put the row of rank `at` among order[start:stop] in its place, smaller ones before it."""
    low, high = start, stop - 1
    while high > low:
        middle = (low + high) >> 1
        one, two, three = order[low], order[middle], order[high]
        if _before(values, two, one):
            one, two = two, one
        pivot = (
            two if _before(values, two, three) else (three if _before(values, one, three) else one)
        )
        left, right = low, high
        while left <= right:
            while _before(values, order[left], pivot):
                left += 1
            while _before(values, pivot, order[right]):
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if at <= right:
            high = right
        elif at >= left:
            low = left
        else:
            return


@jit_entry
def split_rows(
    columns: NDArray[Any],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    low: NDArray[Any],
    high: NDArray[Any],
    order: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Order the rows of some nodes, halving each across its widest coordinate.

    The nodes of a level do not depend on each other.

    Parameters
    ----------
    columns : ndarray, shape (d, g)
    starts, stops : ndarray of int64, shape (nodes,)
        Where each node begins and ends; filled for the children. The root's are 0 and g.
    low, high : ndarray, shape (nodes, d)
        Filled: the box of each leaf; of an inner node, roughly: it decides where to halve.
    order : ndarray of int32, shape (g,)
        0 to g - 1 at first; becomes the row at each position.
    first, last : int
        The nodes `first` to `last` - 1, whose parents are done.
    """
    nodes, dimensions = low.shape
    leaves = (nodes + 1) >> 1
    for node in range(first, last):
        start, stop = starts[node], stops[node]
        widest, extent = 0, -1.0
        step = 1 if node >= leaves - 1 else max(1, (stop - start) // SAMPLED)
        for axis in range(dimensions):
            values = columns[axis]
            least = most = values[order[start]]
            for index in range(start, stop, step):
                value = values[order[index]]
                least = min(least, value)
                most = max(most, value)
            low[node, axis], high[node, axis] = least, most
            if most - least > extent:
                widest, extent = axis, most - least
        if node < leaves - 1:
            middle = (start + stop) >> 1
            _select(columns[widest], order, start, stop, middle)
            starts[2 * node + 1], stops[2 * node + 1] = start, middle
            starts[2 * node + 2], stops[2 * node + 2] = middle, stop


@jit_entry
def rotate(
    points: NDArray[np.float64],
    center: NDArray[np.float64],
    axes: NDArray[np.float64],
    columns: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """Write (point - center) @ axes of the rows `first` to `last` - 1 as columns.

    Parameters
    ----------
    points : ndarray of float64, shape (g, d)
    center : ndarray of float64, shape (d,)
    axes : ndarray of float64, shape (d, d)
    columns : ndarray, shape (d, g)
        Filled.
    first, last : int
    """
    dimensions = len(center)
    for axis in range(dimensions):
        for row in range(first, last):
            total = 0.0
            for column in range(dimensions):
                total += (points[row, column] - center[column]) * axes[column, axis]
            columns[axis, row] = total


@jit_entry
def fill_tiles(
    columns: NDArray[Any],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    low: NDArray[Any],
    high: NDArray[Any],
    tiles: NDArray[Any],
    centers: NDArray[Any],
    halves: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """Copy the points of some leaves into their tiles; see `Side` for what is filled.

    Parameters
    ----------
    columns : ndarray, shape (d, g)
    order, starts, low, high : ndarray
        From `split_rows`.
    tiles, centers, halves : ndarray
        Filled.
    first, last : int
        The leaves `first` to `last` - 1.
    """
    leaves = len(tiles)
    dimensions = len(columns)
    for leaf in range(first, last):
        node = leaves - 1 + leaf
        start, stop = starts[node], starts[node + 1]
        tiles[leaf, dimensions, : stop - start] = 0
        tiles[leaf, :, stop - start :] = np.nan
        for axis in range(dimensions):
            least, most = low[node, axis], high[node, axis]
            centers[leaf, axis] = least + (most - least) / 2
            center = centers[leaf, axis]
            # a little more, for the rounding of differences from the center
            halves[leaf, axis] = max(most - center, center - least) * (1 + 1e-6)
            for index in range(stop - start):
                value = columns[axis, order[start + index]] - centers[leaf, axis]
                tiles[leaf, axis, index] = value
                tiles[leaf, dimensions, index] += value * value / 2


@jit_no_refcount
def find_leaf(starts: NDArray[np.int64], leaves: int, position: int) -> int:
    """The leaf that holds a position."""
    node = 0
    while node < leaves - 1:
        node = 2 * node + 1 if position < starts[2 * node + 2] else 2 * node + 2
    return node - (leaves - 1)
