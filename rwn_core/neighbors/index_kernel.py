"""Build an index: distinct rows, rotated coordinates, a k-d tree with tiles as leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_internal, jit_no_refcount

SAMPLED = 500  # rows, at least, that show where an inner node is widest

# The tree is complete: node v has the children 2 v + 1 and 2 v + 2, and the leaves are the last
# `leaves` of the 2 * leaves - 1 nodes. Nodes on one level hold equal numbers of rows, give or
# take one, so positions alone say which leaf a row is in.


class IndexArrays(NamedTuple):
    """The arrays of an index: distinct rows in the order of a tree, and the records of each row.

    Where categories are coded, a search makes a pass for each set of them that two rows may agree
    in, each with a tree of its own; otherwise there is one pass. The leaves of pass w are numbers
    w * leaves to (w + 1) * leaves - 1 of the arrays of leaves.

    Attributes
    ----------
    tiles : ndarray of float32 or float64, shape (passes * leaves, d + 1, width)
        Rotated points from the center of their leaf's box, leaf by leaf, and half of their
        squared distance from it; NaN beyond a leaf's last row.
    boxes : ndarray, shape (2, d, passes * leaves)
        Of the leaves, of the same type: the middle of each box, and how far it goes from there.
    spans : ndarray of float64, shape (passes * leaves,)
        A bound of the distances of a leaf's points from the middle of its box.
    norms : ndarray of float64, shape (passes * leaves,)
        A bound of the distances of a leaf's points from the center of the rotation and their own.
    starts : ndarray of int64, shape (2 * leaves,)
        The first position of each node, in every tree; the last entry is g.
    exact : ndarray of float64, shape (g, c)
        The points themselves, by position: that in the tree of pass 0.
    offsets : ndarray of int64, shape (g + 1,)
        Position t's records are entries offsets[t] to offsets[t + 1] of `records`.
    records : ndarray of int32, shape (n,)
        Ascending within a row.
    positions : ndarray of int32, shape (n,)
        The position of each record's row.
    numbers : ndarray of int64, shape (n,)
        Each record's number in the full table, ascending.
    levels : ndarray of int64, shape (c,)
        Where the squares of each coded column begin; -1 for a coordinate. Empty if none is coded.
    squares : ndarray of float64
        What each level of the coded columns adds to a squared distance.
    coded : ndarray of int64, shape (a,)
        The coded columns that passes tell apart.
    places : ndarray of int32, shape (passes, g)
        The position of each row of a pass' tree; empty if no column is coded.
    shifts : ndarray of float64, shape (passes, g)
        What is to be added to a row's squared distances in a pass; empty if no column is coded.
    far : float
        A squared distance in a pass that no rows have which agree as it asks.
    """

    tiles: NDArray[Any]
    boxes: NDArray[Any]
    spans: NDArray[np.float64]
    norms: NDArray[np.float64]
    starts: NDArray[np.int64]
    exact: NDArray[np.float64]
    offsets: NDArray[np.int64]
    records: NDArray[np.int32]
    positions: NDArray[np.int32]
    numbers: NDArray[np.int64]
    levels: NDArray[np.int64]
    squares: NDArray[np.float64]
    coded: NDArray[np.int64]
    places: NDArray[np.int32]
    shifts: NDArray[np.float64]
    far: float


@jit_internal
def _hash_row(words: NDArray[np.uint64], row: int) -> np.uint64:
    # the finalizer of splitmix64, chained over the columns
    mixed = uint64(0x9E3779B97F4A7C15)
    for column in range(words.shape[1]):
        mixed = mixed ^ words[row, column]
        mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> uint64(31))
    return mixed


@jit_internal
def _same_row(words: NDArray[np.uint64], one: int, two: int) -> bool:
    for column in range(words.shape[1]):
        if words[one, column] != words[two, column]:
            return False
    return True


@jit_entry
def group_rows(
    words: NDArray[np.uint64], slots: NDArray[np.int32], group: NDArray[np.int32]
) -> int:
    """Number the distinct rows in the order of their first occurrence; return their number."""
    # `slots`, all -1, are a hash table of a power of two of at least 2 n entries.
    mask = uint64(len(slots) - 1)
    groups = 0
    for record in range(len(words)):
        slot = _hash_row(words, record) & mask
        while slots[slot] >= 0 and not _same_row(words, slots[slot], record):
            slot = (slot + uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = record
            group[record] = groups
            groups += 1
        else:
            group[record] = group[slots[slot]]
    return groups


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
    """Order the rows of some nodes, halving each across its widest coordinate."""
    # The nodes of a level do not depend on each other.
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
    """Write (point - center) @ axes of the rows `first` to `last` - 1 as columns."""
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
    boxes: NDArray[Any],
    spans: NDArray[np.float64],
    norms: NDArray[np.float64],
    base: int,
    first: int,
    last: int,
) -> None:
    """Copy the points of some leaves into their tiles; see `IndexArrays` for what is filled."""
    leaves, dimensions = len(starts) // 2, len(columns)
    for leaf in range(first, last):
        node, tile = leaves - 1 + leaf, base + leaf
        start, stop = starts[node], starts[node + 1]
        tiles[tile, dimensions, : stop - start] = 0
        tiles[tile, :, stop - start :] = np.nan
        away, span = 0.0, 0.0
        for axis in range(dimensions):
            least, most = low[node, axis], high[node, axis]
            boxes[0, axis, tile] = least + (most - least) / 2
            center = boxes[0, axis, tile]
            # a little more, for the rounding of differences from the center
            boxes[1, axis, tile] = max(most - center, center - least) * (1 + 1e-6)
            away += np.float64(center) ** 2
            span += np.float64(boxes[1, axis, tile]) ** 2
            for index in range(stop - start):
                value = columns[axis, order[start + index]] - boxes[0, axis, tile]
                tiles[tile, axis, index] = value
                tiles[tile, dimensions, index] += value * value / 2
        spans[tile] = np.sqrt(span)
        norms[tile] = np.sqrt(away) + 2 * spans[tile]
