"""Exact neighborhoods over a dataset: each leaf's records among those of all leaves they reach.

A record whose ball touches no other leaf's box is done with its leaf alone. For the others, the
leaf is searched again together with its guests: those records of other leaves that lie in one of
its balls at least. So sizes, ranks and donors are those of one search of the whole table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.mechanism.donors import column_streams
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.kernels.arrays import SearchResult
from rwn_core.neighbors.points import Points, squares_of, values_of
from rwn_core.neighbors.radius import radius_values
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import Watch
from rwn_core.scale.leaves import (
    axes,
    boxes,
    common_frame,
    leaf_points,
    load_leaf,
    planes,
)
from rwn_core.scale.planes import ROUNDING, Boxes, Cut, turned
from rwn_core.scale.release_order import deal_rows, piece
from rwn_core.scale.run import Run, Task
from rwn_core.scale.staged_arrays import points_like
from rwn_core.scale.staged_columns import values_of_donors

STEP = "join"
PAIRS = 3_000_000  # members that are listed at a time
MOST_GUESTS = 2  # records of other leaves that are searched at once, for each of the leaf's own
_FEWEST = 1000  # records that are not halved any more
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
        # who has no neighbor has no donor either: refused when all are counted
        donors = np.where(donors < 0, ids[:, None], donors)
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
        self.axes = axes(run)
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
            for leaf, rows in self.boxes.reached(self.root, turned(self.points, self.axes), squared)
            if leaf != self.leaf
        ]
        crossing = np.zeros(self.index.n, dtype=bool)
        for _, rows in reached:
            crossing[rows] = True
        if crossing.any():
            self._search_again(np.flatnonzero(crossing), reached, squared, found)
        donors, sizes, within = found.donors, found.sizes, found.within
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

    def _search_again(
        self,
        rows: NDArray[np.int64],
        reached: list[tuple[int, NDArray[np.int64]]],
        squared: NDArray[np.float64],
        found: SearchResult,
    ) -> None:
        """Search for some records among the leaf's own and all guests that may be members."""
        guests, count = [], 0
        for leaf, those in reached:
            mine = np.intersect1d(rows, those, assume_unique=True)
            if len(mine):
                marked = self._guests(leaf, mine, squared, found)
                count += len(marked)
                guests.append((leaf, marked))
            if count > MOST_GUESTS * self.index.n and len(rows) > _FEWEST:
                by_place = rows[np.argsort(self.index.side.positions[rows], kind="stable")]
                for half in np.array_split(by_place, 2):
                    self._search_again(np.sort(half), reached, squared, found)
                return
        target = self._joined(guests)
        own = self.index.side.numbers[rows]
        query = build_index(self.points[rows], numbers=own, frame=self.frame)
        search = Search(target, query, k=self.ball.k or 0, epsilon=self.ball.epsilon)
        again = search.run(Watch(), self.drawing)
        found.donors[rows], found.sizes[rows] = again.donors, again.sizes
        found.within[rows] = again.within

    def _guests(
        self,
        leaf: int,
        rows: NDArray[np.int64],
        squared: NDArray[np.float64],
        found: SearchResult,
    ) -> NDArray[np.int64]:
        """The records of another leaf that may be members of some records' neighborhoods."""
        asked = self.ball.k or 0
        if self.index.n <= asked:  # nothing bounds the radii
            return np.arange(self.boxes.counts[leaf])
        wide = found.within[rows] < asked
        marked = np.zeros(self.boxes.counts[leaf], dtype=bool)
        for part in self._portions(leaf, rows[wide], squared):
            search = self._search_of(leaf, part, squared)
            marked[search.fill(search.run(Watch()), Watch()).members] = True
        if not wide.all():
            marked[self._within_epsilon(leaf, rows[~wide])] = True
        return np.flatnonzero(marked)

    def _portions(
        self, leaf: int, rows: NDArray[np.int64], squared: NDArray[np.float64]
    ) -> list[NDArray[np.int64]]:
        """Parts of some records that have few enough members in another leaf."""
        if not len(rows):
            return []
        sizes = self._search_of(leaf, rows, squared).run(Watch()).sizes
        some = sizes > 0
        if not some.any():
            return []
        part = np.cumsum(sizes)[some] // PAIRS
        return np.split(rows[some], np.flatnonzero(np.diff(part)) + 1)

    def _search_of(
        self, leaf: int, rows: NDArray[np.int64], squared: NDArray[np.float64]
    ) -> Search:
        """The search for all that another leaf has within some records' bounds."""
        radius = np.sqrt(squared[rows]) * _WIDER
        own = self.index.side.numbers[rows]
        query = build_index(self.points[rows], numbers=own, apart=radius, frame=self.frame)
        return Search(load_leaf(self.run, leaf, self.frame), query, k=0, epsilon=radius)

    def _within_epsilon(self, leaf: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The records of another leaf that lie within epsilon of one of these, at least."""
        points = leaf_points(self.run, leaf)
        edge = float(radius_values(self.ball.epsilon or 0.0)) ** 2
        along = turned(points, self.axes)
        near = [
            those for _, those in self.boxes.reached(self.leaf, along, np.full(len(along), edge))
        ]
        if not near:
            return np.empty(0, np.int64)
        query = build_index(points[near[0]], numbers=np.arange(len(near[0])), frame=self.frame)
        few = build_index(
            self.points[rows], numbers=-1 - np.arange(len(rows))[::-1], frame=self.frame
        )
        nearest = Search(few, query, k=1, epsilon=None).run(Watch()).nearest
        return near[0][nearest <= edge * (1 + ROUNDING) * (1 + TIE)]

    def _joined(self, guests: list[tuple[int, NDArray[np.int64]]]) -> Index:
        """One index of the leaf's records and its guests."""
        values, ids = [values_of(self.points)], [self.index.side.numbers]
        for leaf, rows in guests:
            values.append(values_of(leaf_points(self.run, leaf))[rows])
            ids.append(load_leaf(self.run, leaf, self.frame).side.numbers[rows])
        numbers = np.concatenate(ids)
        order = np.argsort(numbers)
        points = points_like(self.points, np.concatenate(values)[order])
        return build_index(points, numbers=numbers[order], frame=self.frame)
