"""A table made ready for searches: identical rows together, rotated, in the order of a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.duplicate_rows import group_rows
from rwn_core.neighbors.kernels.error_bound import bound_norms
from rwn_core.neighbors.kernels.kd_tree import fill_tiles, rotate, split_rows
from rwn_core.neighbors.kernels.leaf_distances import HALF_BLOCK
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH
from rwn_core.parallel.threads import Watch

LINE = 64  # bytes
SMALLEST, LARGEST = 1e-12, 1e12
FARTHEST = 1e152  # the squares of some thousands of such differences still have a sum
BLOCK = 1024  # rows rotated at a time
ROTATION_ROWS = 100_000  # rows that the axes are taken from

Precision = Literal["single", "double"]


class Layout(NamedTuple):
    """How an index is laid out.

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
class Frame:
    """Rotated coordinates: (point - center) @ axes.

    A rotation changes no distance. Along the principal axes the boxes of the tree are smaller.
    """

    center: NDArray[np.float64]
    axes: NDArray[np.float64]
    precision: Precision

    @classmethod
    def of(cls, points: NDArray[np.float64], precision: Precision) -> Frame:
        """The principal axes of a table, widest first."""
        step = max(1, len(points) // ROTATION_ROWS)
        some = np.ascontiguousarray(points[::step])
        center = some.mean(axis=0)
        spread = some - center
        _, axes = np.linalg.eigh(spread.T @ spread)
        return cls(center=center, axes=np.ascontiguousarray(axes[:, ::-1]), precision=precision)

    @property
    def unit(self) -> float:
        """Relative error of a rotated coordinate, by rotation and by rounding."""
        dimensions = len(self.center)
        rounding = float(np.finfo(self.dtype).eps) / 2
        return rounding + 4 * dimensions * float(np.finfo(np.float64).eps)

    @property
    def dtype(self) -> Any:
        """Type of the rotated coordinates."""
        return np.float32 if self.precision == "single" else np.float64

    def columns(self, points: NDArray[np.float64], watch: Watch) -> NDArray[Any]:
        """Rotated coordinates of some points, shape (d, g)."""
        columns = np.empty((points.shape[1], len(points)), dtype=self.dtype)

        def fill(start: int, stop: int) -> None:
            first, last = start * BLOCK, min(stop * BLOCK, len(points))
            rotate(points, self.center, self.axes, columns, first, last)

        watch.run(fill, -(-len(points) // BLOCK))
        return columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index:
    """Records, grouped and ordered, with the frame that their tree lives in.

    Attributes
    ----------
    side : Side
        The arrays.
    frame : Frame
    """

    side: Side
    frame: Frame

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.side.records)

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree."""
        return len(self.side.tiles)

    @property
    def rows(self) -> int:
        """Number of distinct rows."""
        return len(self.side.exact)


def build_index(
    points: NDArray[np.float64],
    *,
    numbers: NDArray[np.int64] | None = None,
    apart: NDArray[np.float64] | None = None,
    frame: Frame | None = None,
    layout: Layout = LAYOUT,
    watch: Watch | None = None,
) -> Index:
    """Make a table ready for searches.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    numbers : ndarray of int64, shape (n,), optional
        The records' numbers in the whole table, ascending; 0 to n - 1 by default.
    apart : ndarray of float64, shape (n,), optional
        Records that differ in this are not grouped, though their points may be identical.
    frame : Frame, optional
        That of the index this one will be searched against.
    layout : Layout
        It changes the time, never a result.
    watch : Watch, optional
        Its threads are used, and it may cancel the work; its progress stays at nothing.

    Returns
    -------
    Index

    Raises
    ------
    Cancelled
    ParameterError
        Squares of the points' differences would be no numbers.
    """
    quiet = (watch or Watch()).part(0.0, 0.0)
    rows = np.ascontiguousarray(points) + 0.0  # a copy; it turns -0.0, which equals 0.0, into it
    group, count = _grouped(rows if apart is None else np.column_stack((rows, apart)))
    if count < len(rows):
        rows = rows[_first_records(group)]
    quiet.report(0.0)
    if frame is None:
        frame = Frame.of(rows, layout.precision if _is_middling(rows) else "double")
    columns = frame.columns(rows, quiet)
    leaves = 1
    while count > layout.leaf * leaves:
        leaves *= 2
    tree = _ordered(columns, leaves, quiet)
    tiles, centers, halves = _tiles_of(columns, tree, quiet)
    del columns
    spans, norms = np.empty(leaves), np.empty(leaves)
    bound_norms(centers, halves, spans, norms)
    offsets, records, positions = _records_of_rows(group, tree.order)
    numbered = np.arange(len(points)) if numbers is None else np.array(numbers, dtype=np.int64)
    side = Side(
        tiles=tiles,
        centers=centers,
        halves=halves,
        spans=spans,
        norms=norms,
        boxes=_side_by_side(centers, halves),
        starts=tree.starts,
        exact=rows[tree.order],
        offsets=offsets,
        records=records,
        positions=positions,
        numbers=numbered,
        firsts=numbered[records[offsets[:-1]]],
    )
    return Index(side=side, frame=frame)


class _Tree(NamedTuple):
    """The rows by position, where each node begins, and its box."""

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    low: NDArray[Any]
    high: NDArray[Any]


def _ordered(columns: NDArray[Any], leaves: int, watch: Watch) -> _Tree:
    """Split the rows level by level."""
    dimensions, count = columns.shape
    nodes = 2 * leaves - 1
    order, starts = np.arange(count, dtype=np.int32), np.zeros(nodes + 1, dtype=np.int64)
    stops = np.full(nodes, count)
    low = np.empty((nodes, dimensions), dtype=columns.dtype)
    high = np.empty_like(low)
    first = 0
    while first < nodes:
        begin, width = first, first + 1

        def split(start: int, stop: int, begin: int = begin) -> None:
            split_rows(columns, starts, stops, low, high, order, begin + start, begin + stop)

        watch.run(split, width)
        first += width
    starts[nodes] = count
    return _Tree(order, starts, low, high)


def _tiles_of(
    columns: NDArray[Any], tree: _Tree, watch: Watch
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The tiles of the leaves, and the centers and halves of their boxes."""
    leaves = (len(tree.low) + 1) // 2
    fullest = int(np.diff(tree.starts[leaves - 1 :]).max())
    width = -(-fullest // HALF_BLOCK) * HALF_BLOCK
    tiles = _aligned((leaves, len(columns) + 1, width), columns.dtype)
    centers = np.empty((leaves, len(columns)), dtype=columns.dtype)
    halves = np.empty_like(centers)

    def fill(start: int, stop: int) -> None:
        fill_tiles(columns, *tree, tiles, centers, halves, start, stop)

    watch.run(fill, leaves)
    return tiles, centers, halves


def _is_middling(rows: NDArray[np.float64]) -> bool:
    """Whether squares of the rows' differences are numbers that single precision has."""
    extent = float(np.ptp(rows, axis=0).max(initial=0.0))
    if not extent < FARTHEST:
        raise ParameterError(
            f"Every coordinate of the records must be a number, less than {FARTHEST:g} from any "
            "other one; make the weights smaller."
        )
    return extent == 0 or SMALLEST < extent < LARGEST


def _side_by_side(centers: NDArray[Any], halves: NDArray[Any]) -> NDArray[Any]:
    """Centers and halves of boxes, shape (2, d, leaves), with room at the end."""
    leaves, dimensions = centers.shape
    boxes = _aligned((2, dimensions, -(-leaves // VECTOR_WIDTH) * VECTOR_WIDTH), centers.dtype)
    boxes[0, :, :leaves], boxes[1, :, :leaves] = centers.T, halves.T
    boxes[0, :, leaves:], boxes[1, :, leaves:] = np.inf, 0
    return boxes


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array that begins where a line of the processor's cache does."""
    size = math.prod(shape)
    room = np.empty(size + LINE, dtype=dtype)
    begin = -room.ctypes.data % LINE // room.itemsize
    return room[begin : begin + size].reshape(shape)


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
