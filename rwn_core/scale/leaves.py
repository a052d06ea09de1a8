"""Deals the records of a dataset out to leaves, and makes each leaf ready to be searched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index, build_index, frame_of
from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.points import CodedPoints, Points, squares_of, values_of
from rwn_core.scale.planes import Boxes, Cut, leaf_numbers, planes_of
from rwn_core.scale.record_batches import write_batches
from rwn_core.scale.run import Run, Task
from rwn_core.scale.stage import whole

DEAL, INDEX = "deal", "index"
_SMALL = 65_536  # bytes that are read at once


def planes(run: Run) -> tuple[Cut | int, int]:
    """The planes of a run, the same in every task."""
    return planes_of(run.facts.points, run.leaves)


def deal_records(run: Run, task: Task) -> dict[str, Any]:
    """Sort the points of a range by leaf, and keep the range's columns for whoever copies them."""
    number, facts = task["number"], run.facts
    table = run.dataset.read(task["start"], task["stop"], run.names)
    with whole(columns_path(run, number)) as unfinished:
        write_batches(unfinished, table, [len(table)], packed=False)
    points = facts.points_of(facts.microdata(table))
    root, leaves = planes(run)
    leaf = leaf_numbers(root, points)
    order = np.argsort(leaf, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(leaf, minlength=leaves))))
    values = values_of(points)[order]
    low, high = np.full((2, leaves, values.shape[1]), np.inf)
    high *= -1
    for each in np.flatnonzero(np.diff(ends)):
        mine = values[ends[each] : ends[each + 1]]
        low[each], high[each] = mine.min(axis=0), mine.max(axis=0)
    _save(run, DEAL, f"{number:06d}-values", np.ascontiguousarray(values))
    _save(run, DEAL, f"{number:06d}-ids", task["start"] + order)
    _save(run, DEAL, f"{number:06d}-ends", ends)
    _save(run, DEAL, f"{number:06d}-boxes", np.stack([low, high]))
    return {}


def merge_boxes(run: Run, ranges: int) -> int:
    """Put together the boxes of the leaves; how many leaves there are."""
    every = [_load(run, DEAL, f"{number:06d}-boxes") for number in range(ranges)]
    ends = [_load(run, DEAL, f"{number:06d}-ends") for number in range(ranges)]
    _save(run, INDEX, "low", np.minimum.reduce([each[0] for each in every]))
    _save(run, INDEX, "high", np.maximum.reduce([each[1] for each in every]))
    counts = np.sum([np.diff(each) for each in ends], axis=0)
    _save(run, INDEX, "counts", counts)
    return len(counts)


def boxes(run: Run) -> Boxes:
    """The tight boxes of all leaves."""
    counts, low, high = (_load(run, INDEX, name) for name in ("counts", "low", "high"))
    return Boxes(counts=counts, low=low, high=high)


def index_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Gather a leaf's points from all ranges, and build the index of its tree."""
    leaf = task["number"]
    values, ids = [], []
    for number in range(task["ranges"]):
        start, stop = _load(run, DEAL, f"{number:06d}-ends")[leaf : leaf + 2]
        values.append(_load(run, DEAL, f"{number:06d}-values")[start:stop])
        ids.append(_load(run, DEAL, f"{number:06d}-ids")[start:stop])
    rows, numbers = np.concatenate(values), np.concatenate(ids)
    if not len(rows):
        return {}
    points = points_like(run.facts.points, rows)
    index = build_index(points, numbers=numbers, frame=common_frame(run))
    for which, side in (("target", index.side), ("query", index.querying)):
        if which == "query" and index.querying is index.side:
            break
        for name, value in side._asdict().items():
            _save(run, INDEX, f"{leaf:06d}-{which}-{name}", np.asarray(value))
    _save(run, INDEX, f"{leaf:06d}-values", rows)
    return {}


def common_frame(run: Run) -> Frame:
    """The frame of all leaves: of the sample, and of the corners of all records."""
    facts = run.facts
    values = np.concatenate((values_of(facts.points), boxes(run).corners))
    return frame_of(points_like(run.facts.points, values))


def load_leaf(run: Run, leaf: int, frame: Frame) -> Index:
    """The index of a leaf that has records: its arrays are mapped, and read where needed."""
    side = _side(run, leaf, "target")
    querying = side if frame.embedding is None else _side(run, leaf, "query")
    return Index(side=side, querying=querying, frame=frame)


def leaf_points(run: Run, leaf: int) -> Points:
    """The points of a leaf's records, in the order of their numbers."""
    return points_like(run.facts.points, _load(run, INDEX, f"{leaf:06d}-values"))


def columns_path(run: Run, number: int) -> Path:
    """Where a range's columns are kept."""
    return run.stage.path(DEAL, f"{number:06d}-columns.arrow")


def _side(run: Run, leaf: int, which: str) -> Side:
    arrays: dict[str, Any] = {
        name: _load(run, INDEX, f"{leaf:06d}-{which}-{name}") for name in Side._fields
    }
    return Side(**{**arrays, "far": float(arrays["far"])})


def points_like(points: Points, values: NDArray[np.float64]) -> Points:
    """Other records of the same metric, from their columns."""
    squares = squares_of(points)
    return CodedPoints(values=values, squares=squares) if squares else values


def _save(run: Run, step: str, name: str, array: NDArray[Any]) -> None:
    path = run.stage.path(step, f"{name}.npy")
    with whole(path) as unfinished, unfinished.open("wb") as stream:
        np.save(stream, array, allow_pickle=False)


def _load(run: Run, step: str, name: str) -> NDArray[Any]:
    """An array of the stage, mapped; compiled code asks for one that could be written to."""
    path = run.stage.path(step, f"{name}.npy")
    if path.stat().st_size < _SMALL:  # an array without entries cannot be mapped
        return np.asarray(np.load(path, allow_pickle=False))
    mapped: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False).view(np.ndarray)
    return mapped
