"""Deals the records of a dataset out to leaves, and makes each leaf ready to be searched.

Leaves lie between planes that come from a random sample: they divide the work and no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.stage import atomic_file
from rwn_core.datasets.staged_arrays import (
    DEAL,
    columns_path,
    gather_leaf,
    load,
    points_like,
    save,
    write_batches,
)
from rwn_core.neighbors.distance import Points, level_squares, point_values
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index, IndexArrays, build_index, shared_frame

INDEX = "index"


def save_axes(run: Run) -> None:
    """Keep the axes that planes lie across: made once, so that all tasks agree."""
    save(run, DEAL, "axes", principal_axes(run.survey_result.points))


def axes(run: Run) -> Floats:
    """The axes that planes lie across."""
    return load(run, DEAL, "axes")


def deal_records(run: Run, task: Task) -> dict[str, Any]:
    """Sort the points of a range by leaf, and store the range's columns for copying."""
    number, found = task["number"], run.survey_result
    table = run.dataset.read(task["start"], task["stop"], run.names)
    with atomic_file(columns_path(run, number)) as unfinished:
        write_batches(unfinished, table, [len(table)], packed=False)
    points = found.to_points(found.microdata(table))
    # leaves are the same in all tasks: their planes come from the sample alone
    root, leaves = build_planes(turned(found.points, axes(run)), run.leaves)
    leaf = leaf_numbers(root, points, axes(run))
    order = np.argsort(leaf, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(leaf, minlength=leaves))))
    values = point_values(points)[order]
    save(run, DEAL, f"{number:06d}-corners", np.stack([values.min(axis=0), values.max(axis=0)]))
    save(run, DEAL, f"{number:06d}-values", np.ascontiguousarray(values))
    save(run, DEAL, f"{number:06d}-ids", task["start"] + order)
    save(run, DEAL, f"{number:06d}-ends", ends)
    return {}


def count_leaves(run: Run, ranges: int) -> int:
    """Add up the records of each leaf, and put corners together; how many leaves there are."""
    corners = [load(run, DEAL, f"{number:06d}-corners") for number in range(ranges)]
    low, high = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
    save(run, INDEX, "corners", np.stack([low, high]))
    ends = [load(run, DEAL, f"{number:06d}-ends") for number in range(ranges)]
    counts = np.sum([np.diff(each) for each in ends], axis=0)
    save(run, INDEX, "counts", counts)
    return len(counts)


def index_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Gather a leaf's points from all ranges, and build the index of its tree."""
    leaf = task["number"]
    points, numbers = gather_leaf(run, leaf, task["ranges"])
    if not len(numbers):
        return {}
    index = build_index(points, numbers=numbers, frame=common_frame(run))
    for which, side in (("target", index.side), ("query", index.querying)):
        if which == "query" and index.querying is index.side:
            break
        for name, value in side._asdict().items():
            save(run, INDEX, f"{leaf:06d}-{which}-{name}", np.asarray(value))
    return {}


def common_frame(run: Run) -> Frame:
    """The frame of all leaves: of the sample, and of the corners of all records."""
    found = run.survey_result
    values = np.concatenate((point_values(found.points), load(run, INDEX, "corners")))
    return shared_frame(points_like(run.survey_result.points, values))


def load_leaf(run: Run, leaf: int, frame: Frame) -> Index:
    """The index of a leaf that has records: its arrays are mapped, and read where needed."""
    side = load_side(run, leaf)
    querying = side if frame.embedding is None else load_side(run, leaf, "query")
    return Index(side=side, querying=querying, frame=frame)


def load_side(run: Run, leaf: int, which: str = "target") -> IndexArrays:
    """One side of a leaf's index."""
    arrays: dict[str, Any] = {
        name: load(run, INDEX, f"{leaf:06d}-{which}-{name}") for name in IndexArrays._fields
    }
    plain = {name: float(arrays[name]) for name in ("far", "scale")}
    return IndexArrays(**{**arrays, **plain})


def leaves_with_records(run: Run) -> list[int]:
    """The numbers of the leaves that are not empty."""
    found: list[int] = np.flatnonzero(load(run, INDEX, "counts")).tolist()
    return found


class Cut(NamedTuple):
    """A plane, and what lies on its two sides: further cuts, or the numbers of leaves."""

    column: int
    value: float
    low: Cut | int
    high: Cut | int


def principal_axes(sample: Points) -> Floats:
    """Directions to cut along: those in which the records spread most, one in each column."""
    # A ball crosses a plane the less often, the wider the records are spread across it.
    values, coded = point_values(sample), level_squares(sample)
    axes = np.eye(values.shape[1])
    free = np.array([c for c in range(values.shape[1]) if c not in coded], dtype=np.int64)
    if len(free) > 1 and len(values) > 1:
        _, directions = np.linalg.eigh(np.cov(values[:, free], rowvar=False))
        axes[np.ix_(free, free)] = directions
    return axes


def turned(points: Points, axes: Floats) -> Points:
    """The same records along other axes; distances stay, but for rounding."""
    return points_like(points, point_values(points) @ axes)


def build_planes(sample: Points, leaves: int) -> tuple[Cut | int, int]:
    """Cut space so that each leaf has about as many records of a sample."""
    values, count = point_values(sample), 0
    free = [column for column in range(values.shape[1]) if column not in level_squares(sample)]

    def cut(rows: Floats, parts: int) -> Cut | int:
        nonlocal count
        # Shapes: rows (m, d).
        spread = rows[:, free].std(axis=0) if parts > 1 and len(rows) > 1 else np.empty(0)
        # the widest column that can be cut, where about half of the parts' rows are up to it
        for column in np.array(free, dtype=np.int64)[np.argsort(-spread, kind="stable")].tolist():
            own = rows[:, column]
            value = float(np.quantile(own, (parts // 2) / parts, method="lower"))
            if value == own.max():  # the rows up to it would be all
                value = float(own[own < value].max(initial=-np.inf))
            if value == -np.inf:
                continue
            below = own <= value
            left = min(max(round(parts * below.mean()), 1), parts - 1)
            return Cut(column, value, cut(rows[below], left), cut(rows[~below], parts - left))
        count += 1
        return count - 1

    return cut(values, leaves), count


def leaf_numbers(root: Cut | int, points: Points, axes: Floats) -> Integers:
    """The leaf of each record, shape (n,); planes are put through turned records."""
    values = point_values(points)
    leaf = np.zeros(len(values), dtype=np.int64)
    along: dict[int, Floats] = {}  # few axes are cut across

    def sort(node: Cut | int, rows: Integers) -> None:
        if not isinstance(node, Cut):
            leaf[rows] = node
            return
        if node.column not in along:
            along[node.column] = values @ axes[:, node.column]
        below = along[node.column][rows] <= node.value
        sort(node.low, rows[below])
        sort(node.high, rows[~below])

    sort(root, np.arange(len(values)))
    return leaf
