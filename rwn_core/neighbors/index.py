"""A table made ready for searches: identical rows together, rotated, in the order of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers, Integers32, Singles
from rwn_core.neighbors.distance import CodedPoints, Points, point_values
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.kernel import Radius, one_radius
from rwn_core.parallel.threads import current_work, one_blas_thread

BLOCK = 16  # a tile's width is a multiple of it
SAMPLED = 500  # rows, at least, that show where an inner node is widest


# most rows of a leaf: a tile of 128 rows and ten coordinates fits the fastest cache
LEAF = 128


class IndexArrays(NamedTuple):
    """The arrays of an index: distinct rows in the order of a tree, and the records of each row.

    Where categories are coded, a search makes a pass for each set of them that two rows may agree
    in, each with a tree of its own; otherwise there is one pass. The leaves of pass w are numbers
    w * leaves to (w + 1) * leaves - 1 of the arrays of leaves.
    """

    # shape (passes * leaves, d + 1, width): rotated points from the center of their leaf's box,
    # leaf by leaf, and half of their squared distance from it; NaN beyond a leaf's last row
    tiles: Singles
    # shape (2, d, passes * leaves): of the leaves, of the same type: the middle of each box, and
    # how far it goes from there
    boxes: Singles
    # shape (passes * leaves,): a bound of the distances of a leaf's points from the middle of its
    # box
    spans: Floats
    # shape (passes * leaves,): a bound of the distances of a leaf's points from the center of the
    # rotation and their own
    norms: Floats
    # shape (2 * leaves,): the first position of each leaf, in every tree, from entry leaves - 1 on;
    # the last is g
    starts: Integers
    # shape (g, c): the points themselves, by position: that in the tree of pass 0
    exact: Floats
    # shape (g + 1,): position t's records are entries offsets[t] to offsets[t + 1] of `records`
    offsets: Integers
    records: Integers32  # shape (n,): ascending within a row
    numbers: Integers  # shape (n,): each record's number in the full table, ascending
    # shape (c,): where the squares of each coded column begin; -1 for a coordinate. Empty if none
    # is coded.
    levels: Integers
    squares: Floats  # what each level of the coded columns adds to a squared distance
    coded: Integers  # shape (a,): the coded columns that passes tell apart
    # shape (passes, g): the position of each row of a pass' tree; empty if no column is coded
    places: Integers32
    # shape (passes, g): what is to be added to a row's squared distances in a pass; empty if no
    # column is coded
    shifts: Floats
    far: float  # a squared distance in a pass that no rows have which agree as it asks
    scale: float  # what rotated squared distances are multiples of those of the points


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index:
    """The records, grouped and ordered, with the frame that their tree lives in."""

    side: IndexArrays  # the arrays, as a search's target
    querying: IndexArrays  # the same as its query: other ones only where categories are coded
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
    numbers: Integers | None = None,
    epsilon: Radius | None = None,
    frame: Frame | None = None,
    leaf: int = LEAF,
) -> Index:
    """Make a table ready for searches; records of unlike radii are held apart."""
    rows = np.ascontiguousarray(point_values(points)) + 0.0  # a copy; it turns -0.0 into 0.0
    apart = () if epsilon is None or one_radius(epsilon) else (np.asarray(epsilon),)
    # the distinct rows are numbered in the order of their first records
    group = np.zeros(len(rows), np.int64)
    count = 1
    for column in (*rows.T, *apart):
        group, found = pd.factorize(group * len(rows) + pd.factorize(column)[0])
        count = len(found)
        if count == len(rows):
            break
    if count < len(rows):
        rows = rows[np.flatnonzero(np.diff(np.maximum.accumulate(group), prepend=-1))]
    leaves = 1
    while count > leaf * leaves:
        leaves *= 2
    begins = np.array([0, count])
    while len(begins) <= leaves:
        begins = np.insert(begins, range(1, len(begins)), (begins[1:] + begins[:-1]) >> 1)
    orders, placed = [], []
    # their own threads wait at full load, and of what is reported this is the beginning
    with one_blas_thread(), current_work().part(0.0, 0.0):
        frame = frame or Frame.fit(rows, points)
        passes = range(len(frame.rotations))
        for which in passes:
            columns = frame.columns(rows, which)
            orders.append(tree_order(columns, begins))
            placed.append(columns[:, orders[which]])
    position = np.empty(count, dtype=np.int32)
    position[orders[0]] = np.arange(count, dtype=np.int32)
    positions = position[group]
    side = IndexArrays(
        **_tiles(placed, begins),
        starts=np.concatenate((np.zeros(leaves - 1, np.int64), begins)),
        exact=rows[orders[0]],
        offsets=np.concatenate(([0], np.cumsum(np.bincount(positions, minlength=count)))),
        records=np.argsort(positions, kind="stable").astype(np.int32),
        numbers=np.arange(len(points)) if numbers is None else np.array(numbers, dtype=np.int64),
        **_categories(points, frame, rows, orders, position),
        scale=frame.scale**2,
    )
    querying = side
    if frame.embedding is not None:  # a query's rows stay in the order of the first tree
        with current_work().part(0.0, 0.0):
            own = (frame.columns(side.exact, which, querying=True) for which in passes)
            querying = side._replace(**_tiles(own, begins))
    return Index(side=side, querying=querying, frame=frame)


def shared_frame(points: Points) -> Frame:
    """The frame of tables that are searched against each other, from the records of all of them."""
    return Frame.fit(np.ascontiguousarray(point_values(points)) + 0.0, points)


def _categories(
    points: Points, frame: Frame, rows: Floats, orders: list[Integers32], position: Integers32
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
    # all levels' squares in one array, and where each column's begin; -1 for a coordinate
    levels = np.full(points.shape[1], -1, dtype=np.int64)
    squares = list(points.squares.values())
    levels[list(points.squares)] = np.cumsum([0, *map(len, squares)])[:-1]
    return {
        "levels": levels,
        "squares": np.concatenate(squares),
        "coded": embedding.coded,
        "places": np.stack([position[order] for order in orders]),
        "shifts": np.ascontiguousarray(embedding.shifts(rows)[:, orders[0]]),
        "far": embedding.far,
    }


def tree_order(columns: Singles, begins: Integers) -> Integers32:
    """Return the rows in the order of a tree that halves each node across its widest coordinate."""
    columns = columns.copy()
    order = np.arange(columns.shape[1], dtype=np.int32)
    leaves = width = len(begins) - 1

    def split(first: int, last: int) -> None:
        for node in range(first, last):
            start, middle, stop = begins[width * node : width * (node + 1) + 1 : width // 2]
            own = columns[:, start:stop]
            some = own[:, :: max(1, (stop - start) // SAMPLED)]
            widest = own[np.argmax(some.max(axis=1) - some.min(axis=1))]
            halves = np.argpartition(widest, middle - start)
            columns[:, start:stop] = own.take(halves, axis=1)
            order[start:stop] = order[start:stop][halves]

    while width > 1:
        current_work().run(split, leaves // width)
        width //= 2
    return order


def _tiles(passes: Iterable[Singles], begins: Integers) -> dict[str, Any]:
    """Return the arrays of the leaves of all passes: see `IndexArrays`."""
    lengths = np.diff(begins)
    leaf = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(begins[-1]) - begins[leaf]
    tiles, boxes, spans, norms = [], [], [], []
    for columns in passes:
        low = np.minimum.reduceat(columns, begins[:-1], axis=1)
        high = np.maximum.reduceat(columns, begins[:-1], axis=1)
        center = low + (high - low) / 2
        # a little more, for the rounding of differences from the center
        half = np.maximum(high - center, center - low) * np.float32(1 + 1e-6)
        local = columns - center[:, leaf]
        width = -(-lengths.max() // BLOCK) * BLOCK
        tile = np.full((len(lengths), len(columns) + 1, width), np.nan, columns.dtype)
        tile[leaf, :-1, place] = local.T
        tile[leaf, -1, place] = np.einsum("dg,dg->g", local, local, dtype=np.float64) / 2
        span = np.sqrt(np.square(half, dtype=np.float64).sum(axis=0))
        away = np.sqrt(np.square(center, dtype=np.float64).sum(axis=0))
        tiles.append(tile)
        boxes.append(np.stack((center, half)))
        spans.append(span)
        norms.append(away + 2 * span)
    return {
        "tiles": np.concatenate(tiles),
        "boxes": np.ascontiguousarray(np.concatenate(boxes, axis=2)),
        "spans": np.concatenate(spans),
        "norms": np.concatenate(norms),
    }
