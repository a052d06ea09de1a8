"""A table made ready for searches: identical rows together, rotated, in the order of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled.grouping import group_rows
from rwn_core.neighborhoods.compiled.kd_tree import fill_tiles, split_rows
from rwn_core.neighborhoods.compiled.side import Side

LEAF = 128  # rows of a leaf: a tile of ten single-precision coordinates fits the fastest cache
BLOCK = 65_536  # rows rotated at a time
ROTATION_ROWS = 100_000  # rows that the axes are found from

Precision = Literal["single", "double"]


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

    def columns(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """Rotated coordinates of some points, shape (d, g)."""
        columns = np.empty((points.shape[1], len(points)), dtype=self.dtype)
        for start in range(0, len(points), BLOCK):
            block = points[start : start + BLOCK]
            columns[:, start : start + BLOCK] = ((block - self.center) @ self.axes).T
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
    precision: Precision = "single",
    leaf: int = LEAF,
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
    precision : {"single", "double"}
        Of the rotated coordinates; it changes the time, never a result.
    leaf : int
        Most rows of a leaf.

    Returns
    -------
    Index
    """
    rows = np.ascontiguousarray(points) + 0.0  # a copy; it turns -0.0, which equals 0.0, into it
    group, count = _grouped(rows if apart is None else np.column_stack((rows, apart)))
    if count < len(rows):
        rows = rows[_first_records(group)]
    if frame is None:
        frame = Frame.of(rows, precision)
    columns = frame.columns(rows)
    leaves = 1
    while count > leaf * leaves:
        leaves *= 2
    dimensions = rows.shape[1]
    order, starts = np.arange(count, dtype=np.int32), np.zeros(2 * leaves, dtype=np.int64)
    low = np.empty((2 * leaves - 1, dimensions), dtype=frame.dtype)
    high = np.empty_like(low)
    split_rows(columns, starts, low, high, order)
    fullest = int(np.diff(starts[leaves - 1 :]).max())
    tiles = np.empty((leaves, dimensions, -(-fullest // 16) * 16), dtype=frame.dtype)
    fill_tiles(columns, order, starts, tiles)
    del columns
    offsets, records, places = _records_of_rows(group, order)
    side = Side(
        tiles=tiles,
        low=low,
        high=high,
        starts=starts,
        exact=rows[order],
        offsets=offsets,
        records=records,
        places=places,
        numbers=np.arange(len(points)) if numbers is None else np.array(numbers, dtype=np.int64),
    )
    return Index(side=side, frame=frame)


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
    places = position[group]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(places, minlength=len(order)))))
    records = np.argsort(places, kind="stable").astype(np.int32)
    return offsets.astype(np.int64), records, places
