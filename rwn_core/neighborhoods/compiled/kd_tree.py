"""A k-d tree whose leaves are tiles: points side by side, one coordinate after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled

# The tree is complete: node v has the children 2 v + 1 and 2 v + 2, and the leaves are the last
# `leaves` of the 2 * leaves - 1 nodes. Nodes on one level hold equal numbers of rows, give or
# take one, so positions alone say which leaf a row is in.


@compiled
def _before(values: NDArray[Any], one: int, two: int) -> bool:
    # row numbers settle ties: the tree does not depend on how the selection swaps
    return values[one] < values[two] or (values[one] == values[two] and one < two)


@compiled
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


@compiled
def split_rows(
    columns: NDArray[Any],
    starts: NDArray[np.int64],
    low: NDArray[Any],
    high: NDArray[Any],
    order: NDArray[np.int32],
) -> None:
    """Order the rows by leaf, halving each node across its widest coordinate.

    Parameters
    ----------
    columns : ndarray, shape (d, g)
    starts : ndarray of int64, shape (nodes + 1,)
        Filled: the first position of each node; the last entry is g.
    low, high : ndarray, shape (nodes, d)
        Filled: the box of each node.
    order : ndarray of int32, shape (g,)
        0 to g - 1; becomes the row at each position.
    """
    nodes, dimensions = low.shape
    leaves = (nodes + 1) >> 1
    stops = np.empty(nodes, np.int64)
    starts[0], stops[0] = 0, len(order)
    for node in range(nodes):
        start, stop = starts[node], stops[node]
        widest, extent = 0, -1.0
        for axis in range(dimensions):
            values = columns[axis]
            least = most = values[order[start]]
            for place in range(start + 1, stop):
                value = values[order[place]]
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
    starts[nodes] = len(order)


@compiled
def fill_tiles(
    columns: NDArray[Any], order: NDArray[np.int32], starts: NDArray[np.int64], tiles: NDArray[Any]
) -> None:
    """Copy the points of each leaf into its tile, shape (leaves, d, width), NaN beyond the last."""
    leaves, dimensions, width = tiles.shape
    for leaf in range(leaves):
        start, stop = starts[leaves - 1 + leaf], starts[leaves + leaf]
        for axis in range(dimensions):
            for place in range(stop - start):
                tiles[leaf, axis, place] = columns[axis, order[start + place]]
            for place in range(stop - start, width):
                tiles[leaf, axis, place] = np.nan


@compiled
def find_leaf(starts: NDArray[np.int64], leaves: int, position: int) -> int:
    """The leaf that holds a position."""
    node = 0
    while node < leaves - 1:
        node = 2 * node + 1 if position < starts[2 * node + 2] else 2 * node + 2
    return node - (leaves - 1)
