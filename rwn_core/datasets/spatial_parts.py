"""Deals the records of a dataset out to leaves, and makes each leaf ready to be searched.

Leaves are slabs that come from a random sample: they divide the work and no result.

One index of all leaves, on the stage: a search of it is a search of the whole table.

A search's target needs no tree, only tiles: those of all leaves, one leaf after the other, are
those of one index. Positions count through the leaves; records have their numbers in the dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Integers
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import (
    COLUMNS,
    DEAL,
    load,
    points_like,
    save,
    save_parts,
    write_batches,
)
from rwn_core.neighbors.distance import Points, level_squares, point_values
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index, IndexArrays, build_index, shared_frame

INDEX = "index"
STEP = "joined"  # another name than when each array was a task of its own
LARGEST = 2**31 - 1  # records that an index can number
_AT_ONCE = 1 << 22  # numbers of records that are written at a time
_OF_ALL = ("levels", "squares", "coded", "far", "scale")  # the same in every leaf


def leaf_numbers(sample: Points, points: Points, leaves: int) -> Integers:
    """Return the leaf of each record: about as many of a sample lie in each.

    Leaves are slabs across the direction in which the sample spreads most: a ball crosses a plane
    the less often, the wider the records are spread across it.
    """
    # shape (n,)
    free = [c for c in range(point_values(sample).shape[1]) if c not in level_squares(sample)]
    known = point_values(sample)[:, free]
    values = point_values(points)[:, free]
    if leaves < 2 or not free or len(known) < 2:
        return np.zeros(len(values), dtype=np.int64)
    _, directions = np.linalg.eigh(np.atleast_2d(np.cov(known, rowvar=False)))
    ends = np.quantile(known @ directions[:, -1], np.arange(1, leaves) / leaves)
    return np.asarray(np.searchsorted(ends, values @ directions[:, -1]), dtype=np.int64)


def deal_records(run: Run, task: Task) -> dict[str, Any]:
    """Sort the points of a range by leaf, and store the range's columns for copying."""
    number = task["number"]
    found = run.survey_result
    table = run.dataset.read(task["start"], task["stop"], run.names)
    write_batches(run.path(DEAL, number, COLUMNS), table, [len(table)], packed=False)
    points = found.metric.coded(found.microdata(table))
    leaf = leaf_numbers(found.points, points, run.leaves)
    order = np.argsort(leaf, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(leaf, minlength=run.leaves))))
    values = point_values(points)[order]
    save(run, DEAL, f"{number:06d}-corners", np.stack([values.min(axis=0), values.max(axis=0)]))
    save(run, DEAL, f"{number:06d}-values", np.ascontiguousarray(values))
    save(run, DEAL, f"{number:06d}-ids", task["start"] + order)
    save(run, DEAL, f"{number:06d}-ends", ends)
    return {}


def index_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Gather a leaf's points from all ranges, and build the index of its tree."""
    leaf = task["number"]
    # The points of a leaf from all ranges, and their records' numbers, ascending.
    values, ids = [], []
    for number in range(task["ranges"]):
        start, stop = load(run, DEAL, f"{number:06d}-ends")[leaf : leaf + 2]
        values.append(load(run, DEAL, f"{number:06d}-values")[start:stop])
        ids.append(load(run, DEAL, f"{number:06d}-ids")[start:stop])
    points = points_like(run.survey_result.points, np.concatenate(values))
    index = build_index(points, numbers=np.concatenate(ids), frame=common_frame(run))
    for which, side in (("target", index.side), ("query", index.querying)):
        if which == "query" and index.querying is index.side:
            break
        for name, value in side._asdict().items():
            save(run, INDEX, f"{leaf:06d}-{which}-{name}", np.asarray(value))
    return {}


def common_frame(run: Run) -> Frame:
    """The frame of all leaves: of the sample, and of the corners of all records."""
    values = np.concatenate((point_values(run.survey_result.points), load(run, INDEX, "corners")))
    return shared_frame(points_like(run.survey_result.points, values))


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


def joined_index(run: Run, frame: Frame) -> Index:
    """The index of all records: its arrays are mapped, and read where needed."""
    one = load_side(run, leaves_with_records(run)[0])
    arrays: dict[str, Any] = {
        name: getattr(one, name) if name in _OF_ALL else load(run, STEP, name)
        for name in IndexArrays._fields
    }
    side = IndexArrays(**arrays)
    return Index(side=side, querying=side, frame=frame)


def join_tiles(run: Run, sides: Sequence[IndexArrays]) -> None:
    """Write the tiles, all as wide as the widest."""
    width = max(side.tiles.shape[2] for side in sides)
    parts = _pass_by_pass(sides, "tiles")  # shape (t, d, w) each
    shape = (sum(len(part) for part in parts), parts[0].shape[1], width)
    beyond = ([(0, 0), (0, 0), (0, width - part.shape[2])] for part in parts)
    widened = map(partial(np.pad, constant_values=np.nan), parts, beyond)
    save_parts(run, STEP, "tiles", shape, widened)


def join_boxes(run: Run, sides: Sequence[IndexArrays]) -> None:
    """Write the boxes of the tiles, and where each tile begins."""
    spans, norms = (np.concatenate(_pass_by_pass(sides, name)) for name in ("spans", "norms"))
    boxes = np.ascontiguousarray(np.concatenate(_pass_by_pass(sides, "boxes", 2), axis=2))
    leaves = [len(side.starts) // 2 for side in sides]
    before = _before([len(side.exact) for side in sides])
    starts = np.zeros(2 * sum(leaves), dtype=np.int64)  # inner nodes are not asked for
    starts[-1] = before[-1]
    begins = [side.starts[own - 1 : -1] for side, own in zip(sides, leaves, strict=True)]
    starts[sum(leaves) - 1 : -1] = np.concatenate(
        [begin + base for begin, base in zip(begins, before, strict=False)]
    )
    for name, array in {"boxes": boxes, "spans": spans, "norms": norms, "starts": starts}.items():
        save(run, STEP, name, array)


def join_rows(run: Run, sides: Sequence[IndexArrays]) -> None:
    """Write what each position has, and each record's number: that in the dataset."""
    counts = [len(side.exact) for side in sides]
    before, records = _before(counts), _before([len(side.records) for side in sides])
    n = run.dataset.n
    rows = before[-1]
    passes = len(sides[0].shifts)
    offsets = (side.offsets[:-1] + base for side, base in zip(sides, records, strict=False))
    end = np.array(records[-1:], dtype=np.int64)
    places = (
        side.places[which] + np.int32(base)
        for which, (side, base) in product(range(passes), zip(sides, before, strict=False))
    )
    coded = rows if sides[0].places.size else 0
    shifts = (side.shifts[which] for which, side in product(range(passes), sides))
    save_parts(run, STEP, "exact", (rows, sides[0].exact.shape[1]), (side.exact for side in sides))
    save_parts(run, STEP, "offsets", (rows + 1,), chain(offsets, [end]))
    numbered = (side.numbers[side.records].astype(np.int32) for side in sides)
    save_parts(run, STEP, "records", (records[-1],), numbered)
    save_parts(run, STEP, "places", (passes, coded), places)
    save_parts(run, STEP, "shifts", (passes, coded), shifts)
    numbers = (np.arange(at, min(at + _AT_ONCE, n)) for at in range(0, n, _AT_ONCE))
    save_parts(run, STEP, "numbers", (n,), numbers)


def join_leaves(run: Run, task: Task) -> dict[str, Any]:
    """Write the arrays of the joined index from those of the leaves."""
    sides = [load_side(run, leaf) for leaf in leaves_with_records(run)]
    for join in (join_tiles, join_boxes, join_rows):
        join(run, sides)
    return {}


def _before(counts: Sequence[int]) -> list[int]:
    """Return the offsets of parts, with the total last."""
    return [0, *np.cumsum(counts).tolist()]


def _pass_by_pass(sides: Sequence[IndexArrays], name: str, axis: int = 0) -> list[NDArray[Any]]:
    """Return an array of all leaves' tiles: the first pass of each leaf, then the second ones."""
    passes = len(sides[0].shifts)
    arrays = [np.split(getattr(side, name), passes, axis=axis) for side in sides]
    return [array[which] for which, array in product(range(passes), arrays)]
