"""A table made ready for searches: identical rows together, rotated, in the order of a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.distance_kernel import BLOCK
from rwn_core.neighbors.embedding import levels_in_one
from rwn_core.neighbors.frame import Frame, Precision
from rwn_core.neighbors.index_kernel import IndexArrays, fill_tiles, group_rows, split_rows
from rwn_core.neighbors.points import CodedPoints, Points, point_values
from rwn_core.parallel.threads import Watch

SMALLEST, LARGEST = 1e-12, 1e12
LINE = 64  # bytes
NEARBY = 8192  # rows of a node whose coordinates are brought together: a fast cache holds them
FARTHEST = 1e152  # the squares of some thousands of such differences still have a sum


class Layout(NamedTuple):
    """The layout of an index.

    Attributes
    ----------
    precision : {"single", "double"}
        Of the rotated coordinates.
    leaf : int
        Most rows of a leaf. A tile of 128 rows and ten coordinates fits the fastest cache.
    """

    precision: Precision = "single"
    leaf: int = 128


LAYOUT = Layout()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index:
    """Records, grouped and ordered, with the frame that their tree lives in.

    Attributes
    ----------
    side : IndexArrays
        The arrays, as a search's target.
    querying : IndexArrays
        The same as its query: other ones only where categories are coded.
    frame : Frame
    """

    side: IndexArrays
    querying: IndexArrays
    frame: Frame

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.side.records)

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree."""
        return len(self.side.starts) // 2

    @property
    def rows(self) -> int:
        """Number of distinct rows."""
        return len(self.side.exact)


def build_index(
    points: Points,
    *,
    numbers: NDArray[np.int64] | None = None,
    apart: NDArray[np.float64] | None = None,
    frame: Frame | None = None,
    layout: Layout = LAYOUT,
    watch: Watch | None = None,
) -> Index:
    """Make a table ready for searches."""
    quiet = (watch or Watch()).part(0.0, 0.0)
    rows = np.ascontiguousarray(point_values(points)) + 0.0  # a copy; it turns -0.0 into 0.0
    group, count = _grouped(rows if apart is None else np.column_stack((rows, apart)))
    if count < len(rows):
        rows = rows[_first_records(group)]
    quiet.report(0.0)
    if frame is None:
        frame = Frame.fit(rows, points, layout.precision if _is_middling(rows) else "double")
    leaves = 1
    while count > layout.leaf * leaves:
        leaves *= 2
    trees, tiles = [], None
    for which, _ in enumerate(frame.rotations):
        columns = frame.columns(rows, which, quiet)
        trees.append(ordered(columns, leaves, quiet))
        tiles = tiles or tiles_for(len(frame.rotations), columns, trees[0].starts)
        fill_pass(tiles, which, columns, trees[which], quiet)
    assert tiles is not None
    offsets, records, positions = _records_of_rows(group, trees[0].order)
    numbered = np.arange(len(points)) if numbers is None else np.array(numbers, dtype=np.int64)
    side = IndexArrays(
        **tiles._asdict(),
        starts=trees[0].starts,
        exact=rows[trees[0].order],
        offsets=offsets,
        records=records,
        positions=positions,
        numbers=numbered,
        **_categories(points, frame, rows, trees),
    )
    return Index(side=side, querying=_querying(side, frame, quiet), frame=frame)


def shared_frame(points: Points, layout: Layout = LAYOUT) -> Frame:
    """The frame of tables that are searched against each other, from the records of all of them."""
    rows = np.ascontiguousarray(point_values(points)) + 0.0
    return Frame.fit(rows, points, layout.precision if _is_middling(rows) else "double")


def _categories(
    points: Points, frame: Frame, rows: NDArray[np.float64], trees: list[Tree]
) -> dict[str, Any]:
    """Return the arrays of coded categories."""
    embedding = frame.embedding
    if embedding is None or not isinstance(points, CodedPoints):
        return {
            "levels": np.empty(0, np.int64),
            "squares": np.empty(0),
            "coded": np.empty(0, np.int64),
            "places": np.empty((1, 0), np.int32),
            "shifts": np.empty((1, 0)),
            "far": np.inf,
        }
    position = np.empty(len(rows), np.int32)
    position[trees[0].order] = np.arange(len(rows), dtype=np.int32)
    levels, squares = levels_in_one(points)
    return {
        "levels": levels,
        "squares": squares,
        "coded": embedding.coded,
        "places": np.stack([position[tree.order] for tree in trees]),
        "shifts": np.ascontiguousarray(embedding.shifts(rows)[:, trees[0].order]),
        "far": embedding.far,
    }


def _querying(side: IndexArrays, frame: Frame, watch: Watch) -> IndexArrays:
    """The side as that of a search's query: its rows stay in the order of the first tree."""
    if frame.embedding is None:
        return side
    leaves = len(side.starts) // 2
    begins, order = side.starts[leaves - 1 : -1], np.arange(len(side.exact), dtype=np.int32)
    tiles = None
    for which, _ in enumerate(frame.rotations):
        columns = frame.columns(side.exact, which, watch, querying=True)
        low = np.empty((2 * leaves - 1, len(columns)), dtype=columns.dtype)
        high = np.empty_like(low)
        low[leaves - 1 :] = np.minimum.reduceat(columns, begins, axis=1).T
        high[leaves - 1 :] = np.maximum.reduceat(columns, begins, axis=1).T
        tiles = tiles or tiles_for(len(frame.rotations), columns, side.starts)
        fill_pass(tiles, which, columns, Tree(order, side.starts, low, high), watch)
    assert tiles is not None
    return side._replace(**tiles._asdict())


def _is_middling(rows: NDArray[np.float64]) -> bool:
    """True if single precision has the squares of the rows' differences."""
    extent = float(np.ptp(rows, axis=0).max(initial=0.0))
    if not extent < FARTHEST:
        raise ParameterError(
            f"Every coordinate of the records must be a number, less than {FARTHEST:g} from any "
            "other one; make the weights smaller."
        )
    return extent == 0 or SMALLEST < extent < LARGEST


def _grouped(rows: NDArray[np.float64]) -> tuple[NDArray[np.int32], int]:
    slots = np.full(1 << (2 * len(rows) - 1).bit_length(), -1, dtype=np.int32)
    group = np.empty(len(rows), dtype=np.int32)
    return group, group_rows(rows.view(np.uint64), slots, group)


def _first_records(group: NDArray[np.int32]) -> NDArray[np.int64]:
    """The first record of each group; groups are numbered in that order."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(group), prepend=-1))


def _records_of_rows(
    group: NDArray[np.int32], order: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Offsets and records by position, and the position of each record."""
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    positions = position[group]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(positions, minlength=len(order)))))
    records = np.argsort(positions, kind="stable").astype(np.int32)
    return offsets.astype(np.int64), records, positions


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
    """The arrays of leaves, of all passes: see `IndexArrays`."""

    tiles: NDArray[Any]
    boxes: NDArray[Any]
    spans: NDArray[np.float64]
    norms: NDArray[np.float64]


def tiles_for(passes: int, columns: NDArray[Any], starts: NDArray[np.int64]) -> Tiles:
    """Allocate the tiles of trees with these starts."""
    leaves, dimensions = len(starts) // 2, len(columns)
    fullest = int(np.diff(starts[leaves - 1 :]).max())
    width = -(-fullest // BLOCK) * BLOCK
    return Tiles(
        _aligned((passes * leaves, dimensions + 1, width), columns.dtype),
        _aligned((2, dimensions, passes * leaves), columns.dtype),
        np.empty(passes * leaves),
        np.empty(passes * leaves),
    )


def fill_pass(room: Tiles, which: int, columns: NDArray[Any], tree: Tree, watch: Watch) -> None:
    """Fill the tiles of a pass."""
    leaves = len(tree.starts) // 2

    def fill(start: int, stop: int) -> None:
        fill_tiles(columns, *tree, *room, which * leaves, start, stop)

    watch.run(fill, leaves)


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array that begins where a line of the processor's cache does."""
    size = math.prod(shape)
    room = np.empty(size + LINE, dtype=dtype)
    begin = -room.ctypes.data % LINE // room.itemsize
    return room[begin : begin + size].reshape(shape)
