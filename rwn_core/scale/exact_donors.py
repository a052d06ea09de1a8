"""Exact neighborhoods over a dataset: each leaf's records among those of all leaves they reach.

A record whose ball stays inside its leaf, as most do, is done with its leaf alone. For the
others the members in every leaf that the ball touches are put together and ranked again, by
distance and record number. So sizes, ranks and donors are those of one search of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.mechanism.donors import column_streams
from rwn_core.neighbors.candidates.assemble import table_of_pairs
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.kernels.arrays import SearchResult
from rwn_core.neighbors.points import Points, squares_of
from rwn_core.neighbors.radius import radius_values
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.stored_draws import Chains
from rwn_core.neighbors.table import Neighborhoods
from rwn_core.parallel.threads import Watch
from rwn_core.scale.leaves import (
    boxes,
    columns_path,
    common_frame,
    leaf_points,
    load_leaf,
    planes,
)
from rwn_core.scale.planes import Boxes, Cut
from rwn_core.scale.record_batches import map_all
from rwn_core.scale.release_order import deal_rows, piece
from rwn_core.scale.run import Run, Task

STEP = "join"
PAIRS = 3_000_000  # members of records that several leaves share, held at a time
_WIDER = 1 + 1e-12  # a radius whose square is at least what it was the root of


def mask_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one leaf.

    Returns
    -------
    dict
        Of the leaf: records whose neighborhood is empty, and those that k governs; those whose
        balls reach other leaves.
    """
    leaf, every = task["number"], boxes(run)
    if not every.counts[leaf]:
        ids = np.empty(0, np.int64)
        donors = np.empty((0, len(run.names)), np.int64)
        answer = {"empty": 0, "governed": 0, "crossing": 0}
    else:
        join = _Join(run, leaf, every)
        ids, donors, answer = join.index.side.numbers, *join.donors()
    masked = values_of_donors(run, donors)
    deal_rows(piece(run, leaf), masked, ids, run.key, run.files)
    return answer


class _Join:
    """The search of one leaf's records in all the leaves that they reach."""

    def __init__(self, run: Run, leaf: int, every: Boxes) -> None:
        self.run, self.leaf, self.boxes = run, leaf, every
        self.frame: Frame = common_frame(run)
        self.root: Cut | int = planes(run)[0]
        self.index = load_leaf(run, leaf, self.frame)
        self.points: Points = leaf_points(run, leaf)
        self.ball = run.params.ball
        schema_only = Microdata(run.facts.sample.slice(0, 0).to_pandas(), run.facts.schema)
        self.drawing = Drawing(
            key=run.key,
            streams=column_streams(schema_only),
            q=run.params.draw_probability(schema_only),
        )

    def donors(self) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """The donors of the leaf's records, shape (n, p), and counts."""
        k = min(self.ball.k or 0, self.index.n - 1)
        search = Search(self.index, k=k, epsilon=self.ball.epsilon)
        found = search.run(Watch(), self.drawing)
        squared = self._squared_radii(found, k)
        reached = [
            (leaf, rows)
            for leaf, rows in self.boxes.reached(self.root, self.points, squared)
            if leaf != self.leaf
        ]
        crossing = np.zeros(self.index.n, dtype=bool)
        for _, rows in reached:
            crossing[rows] = True
        donors, sizes, within = found.donors, found.sizes, found.within
        for rows in self._batches(np.flatnonzero(crossing), sizes):
            again = self._neighborhoods(rows, reached, squared)
            donors[rows] = self._draw(rows, *again)
            sizes[rows], within[rows] = again[0].sizes, again[0].within
        return donors, {
            "empty": int((sizes == 0).sum()),
            "governed": int((within < (self.ball.k or 0)).sum()),
            "crossing": int(crossing.sum()),
        }

    def _squared_radii(self, found: SearchResult, k: int) -> NDArray[np.float64]:
        """Bounds of the squared radii: those within the leaf, where it has k others."""
        asked = self.ball.k or 0
        squared = np.array(found.kth)
        if k < asked:
            low, high = self.boxes.corners
            levels = sum(2 * float(each.max()) for each in squares_of(self.points).values())
            squared[found.within < asked] = 4 * (float(((high - low) ** 2).sum()) + levels)
        if self.ball.epsilon is not None:
            squared = np.maximum(squared, float(radius_values(self.ball.epsilon)) ** 2)
        return squared

    def _batches(
        self, rows: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """Parts of the rows that have few members enough, so far as their leaf knows."""
        if not len(rows):
            return
        total = np.cumsum(sizes[rows] + (self.ball.k or 0) + 1)
        part = total // PAIRS
        yield from np.split(rows, np.flatnonzero(np.diff(part)) + 1)

    def _neighborhoods(
        self,
        rows: NDArray[np.int64],
        reached: list[tuple[int, NDArray[np.int64]]],
        squared: NDArray[np.float64],
    ) -> tuple[Neighborhoods, NDArray[np.int64]]:
        """The neighborhoods of some records, and the numbers of those who are members."""
        parts = [self._members(self.index, rows, squared)]
        for leaf, those in reached:
            mine = np.intersect1d(rows, those, assume_unique=True)
            if len(mine):
                parts.append(self._members(load_leaf(self.run, leaf, self.frame), mine, squared))
        owners, members, distances = (np.concatenate(each) for each in zip(*parts, strict=True))
        ids, members = np.unique(members, return_inverse=True)
        table = table_of_pairs(len(rows), np.searchsorted(rows, owners), members, distances)
        table = replace(table, k=self.ball.k or 0)  # as far as the leaves were searched
        return table.narrow(k=self.ball.k, epsilon=self.ball.epsilon), ids

    def _members(
        self, target: Index, rows: NDArray[np.int64], squared: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Pairs of some records and their members in one leaf, and squared distances."""
        radius = np.sqrt(squared[rows]) * _WIDER
        ids = self.index.side.numbers[rows]
        query = build_index(self.points[rows], numbers=ids, apart=radius, frame=self.frame)
        search = Search(target, query, k=0, epsilon=radius)
        table = search.fill(search.run(Watch()), Watch())
        owners = np.repeat(rows, np.diff(table.starts))
        return owners, target.side.numbers[table.members], table.squared

    def _draw(
        self, rows: NDArray[np.int64], neighborhoods: Neighborhoods, ids: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The donors of some records."""
        own, streams = self.index.side.numbers[rows], np.array(self.drawing.streams)
        local = np.arange(len(rows))
        chains = Chains(self.drawing.key, own, streams, neighborhoods.sizes)
        modified = chains.modify < self.drawing.q
        chains.records = local
        drawn = chains.donors(neighborhoods, np.ones(len(streams)), 1)
        donors = np.where(drawn < 0, -1, ids[np.maximum(drawn, 0)])
        return np.where(modified, donors, own[:, None])


def values_of_donors(run: Run, donors: NDArray[np.int64]) -> pa.Table:
    """Fill every column from its donors, wherever in the dataset they are.

    Parameters
    ----------
    run : Run
    donors : ndarray of int64, shape (m, p)

    Returns
    -------
    pyarrow.Table
    """
    orders = np.argsort(donors, axis=0, kind="stable")
    ordered = np.take_along_axis(donors, orders, 0)
    parts: list[list[Any]] = [[] for _ in run.names]
    for task in run.ranges("columns"):
        begin, end = np.array(
            [
                np.searchsorted(ordered[:, j], [task["start"], task["stop"]])
                for j in range(len(parts))
            ]
        ).T
        if (begin == end).all() and task["number"]:
            continue
        table = map_all(columns_path(run, task["number"]))
        for j, part in enumerate(parts):
            rows = ordered[begin[j] : end[j], j] - task["start"]
            part.append(table.column(j).combine_chunks().take(pa.array(rows)))
    columns = []
    for j, part in enumerate(parts):
        back = np.empty(len(donors), np.int64)
        back[orders[:, j]] = np.arange(len(donors))
        columns.append(pa.concat_arrays(part).take(pa.array(back)))
    return pa.table(columns, names=run.names)
