"""The trees of an index, and the tiles of their leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import HULL
from rwn_core.neighbors.kernels.error_bound import bound_norms
from rwn_core.neighbors.kernels.kd_tree import fill_tiles, split_rows
from rwn_core.neighbors.kernels.leaf_distances import HALF_BLOCK
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH
from rwn_core.parallel.threads import Watch

LINE = 64  # bytes
WIDER = 1e-9  # a hull, by this share
NEARBY = 8192  # rows of a node whose coordinates are brought together: a fast cache holds them


class Tree(NamedTuple):
    """The rows by position, where each node begins, and its box."""

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    low: NDArray[Any]
    high: NDArray[Any]


def ordered(columns: NDArray[Any], leaves: int, watch: Watch) -> Tree:
    """Split the rows level by level."""
    dimensions, count = columns.shape
    nodes = 2 * leaves - 1
    room = np.empty((2, nodes, dimensions), dtype=columns.dtype)
    tree = Tree(np.arange(count, dtype=np.int32), np.zeros(nodes + 1, dtype=np.int64), *room)
    stops = np.full(nodes, count)
    level = 0  # nodes of the level before
    while level < leaves and count > NEARBY * level:
        level = _split_level(columns, tree, stops, level, watch)
    order = tree.order
    if level < leaves:  # from here on a node's rows lie together in memory
        tree = tree._replace(order=np.arange(count, dtype=np.int32))
        columns = columns[:, order]
        while level < leaves:
            level = _split_level(columns, tree, stops, level, watch)
        order = order[tree.order]
    tree.starts[nodes] = count
    return tree._replace(order=order)


def _split_level(
    columns: NDArray[Any], tree: Tree, stops: NDArray[np.int64], level: int, watch: Watch
) -> int:
    """Split the nodes below a level of so many nodes; how many these are."""
    width = max(1, 2 * level)
    order, starts, low, high = tree

    def split(start: int, stop: int) -> None:
        first = width - 1
        split_rows(columns, starts, stops, low, high, order, first + start, first + stop)

    watch.run(split, width)
    return width


class Tiles(NamedTuple):
    """The tiles of the leaves of all passes, and the centers and halves of their boxes."""

    tiles: NDArray[Any]
    centers: NDArray[Any]
    halves: NDArray[Any]

    def finished(self, leaves: int) -> dict[str, Any]:
        """What a side holds of them."""
        spans, norms = np.empty(len(self.tiles)), np.empty(len(self.tiles))
        bound_norms(self.centers, self.halves, spans, norms)
        around = boxes_of(self.centers, self.halves, leaves)
        return {**self._asdict(), "spans": spans, "norms": norms, **around}


def tiles_for(passes: int, columns: NDArray[Any], starts: NDArray[np.int64]) -> Tiles:
    """Room for the tiles of trees with these starts."""
    leaves = len(starts) // 2
    fullest = int(np.diff(starts[leaves - 1 :]).max())
    width = -(-fullest // HALF_BLOCK) * HALF_BLOCK
    centers = np.empty((passes * leaves, len(columns)), dtype=columns.dtype)
    tiles = _aligned((passes * leaves, len(columns) + 1, width), columns.dtype)
    return Tiles(tiles, centers, np.empty_like(centers))


def fill_pass(room: Tiles, which: int, columns: NDArray[Any], tree: Tree, watch: Watch) -> None:
    """Fill the tiles of a pass."""
    leaves = len(tree.starts) // 2
    tiles, centers, halves = (each[which * leaves : (which + 1) * leaves] for each in room)

    def fill(start: int, stop: int) -> None:
        fill_tiles(columns, *tree, tiles, centers, halves, start, stop)

    watch.run(fill, leaves)


def boxes_of(centers: NDArray[Any], halves: NDArray[Any], leaves: int) -> dict[str, NDArray[Any]]:
    """What a side holds to pass over leaves: `Side.boxes` and `Side.hulls`."""
    return {
        "boxes": _side_by_side(centers, halves, leaves),
        "hulls": _hulls(centers, halves, leaves),
    }


def _hulls(centers: NDArray[Any], halves: NDArray[Any], leaves: int) -> NDArray[np.float64]:
    """Boxes around leaves that follow each other: `Side.hulls`."""
    begins = np.arange(0, leaves, HULL)
    middles, lengths = (
        each.astype(np.float64).reshape(-1, leaves, centers.shape[1]) for each in (centers, halves)
    )
    low = np.minimum.reduceat(middles - lengths, begins, axis=1)
    high = np.maximum.reduceat(middles + lengths, begins, axis=1)
    middle = low + (high - low) / 2
    # rounding may not leave out what lies at an edge
    half = np.maximum(high - middle, middle - low) * (1 + WIDER)
    return np.stack([middle, half], axis=2).reshape(-1, 2, centers.shape[1])


def _side_by_side(centers: NDArray[Any], halves: NDArray[Any], leaves: int) -> NDArray[Any]:
    """Centers and halves of boxes pass by pass, with room at the end of each: `Side.boxes`."""
    dimensions, passes = centers.shape[1], len(centers) // leaves
    room = -(-leaves // VECTOR_WIDTH) * VECTOR_WIDTH
    boxes = _aligned((2, dimensions, passes * room), centers.dtype)
    for which in range(passes):
        here = boxes[:, :, which * room : (which + 1) * room]
        mine = slice(which * leaves, (which + 1) * leaves)
        here[0, :, :leaves], here[1, :, :leaves] = centers[mine].T, halves[mine].T
        here[0, :, leaves:], here[1, :, leaves:] = np.inf, 0
    return boxes


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array that begins where a line of the processor's cache does."""
    size = math.prod(shape)
    room = np.empty(size + LINE, dtype=dtype)
    begin = -room.ctypes.data % LINE // room.itemsize
    return room[begin : begin + size].reshape(shape)
