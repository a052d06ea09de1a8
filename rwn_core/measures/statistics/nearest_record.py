"""Nearest records in the original's standard deviations.

Weights do not count: they steer the masking, and an intruder ignores them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.nearest_by_products import (
    BoundedPoints,
    is_quick,
    smallest,
)
from rwn_core.neighbors.distance import squared_between
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.points import CodedPoints, Points, values_of

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

LARGEST_WHOLE = 4000  # records up to which all are searched
SAMPLE = 1000  # records searched beyond that
BLOCK_PAIRS = 4_000_000  # pairs whose distances are held at a time
FARTHEST = 1e150  # standard deviations
SLACK = 1e-6  # the tree only preselects; the exact distances decide


def unweighted_metric(comparison: Comparison) -> Metric:
    """Return the distance in the original's standard deviations, every weight 1."""
    file = _file(comparison)

    def make() -> Metric:
        weights = {variable.name: 1.0 for variable in file.schema.variables}
        weighted = file.with_weights(weights)
        try:
            return Metric.fit(weighted)
        except ParameterError:
            raise NotApplicable(
                "No variable of the original varies, so there is no distance between records."
            ) from None

    return comparison.cached_for_original(
        "unweighted metric", lambda: file.cached(_about(file, "metric"), make)
    )


def _file(comparison: Comparison) -> Microdata:
    """Return the full file that the original's records come from."""
    return comparison.original if comparison.file is None else comparison.file


def _about(file: Microdata, what: str) -> tuple[Hashable, ...]:
    """Return a cache key that does not depend on the weights."""
    return f"unweighted {what}", *((each.name, each.kind) for each in file.schema.released)


def original_points(comparison: Comparison) -> Points:
    """Return the original's records as points of `unweighted_metric`, shape (n, d)."""
    metric = unweighted_metric(comparison)
    return comparison.cached_for_original(
        "unweighted points", lambda: side_by_side(metric.coded(comparison.original))
    )


def released_points(comparison: Comparison) -> Points:
    """Return the released records as points of `unweighted_metric`, shape (n, d)."""
    metric = unweighted_metric(comparison)

    def make() -> Points:
        points = metric.coded(comparison.masked)
        # another tool's noise may leave the original's range by far: squares stay finite
        values = np.ascontiguousarray(np.clip(values_of(points), -FARTHEST, FARTHEST))
        return replace(points, values=values) if isinstance(points, CodedPoints) else values

    return comparison.cached_for_release("unweighted released points", make)


def side_by_side(points: Points) -> Points:
    """The points with each record's values side by side in memory."""
    values = np.ascontiguousarray(values_of(points))
    return replace(points, values=values) if isinstance(points, CodedPoints) else values


def distinct_originals(comparison: Comparison) -> DistinctPoints:
    """Return the distinct points of the full file, also if a sample is shown."""
    file, metric = _file(comparison), unweighted_metric(comparison)

    def make() -> DistinctPoints:
        return distinct_points(side_by_side(metric.coded(file)))

    return file.cached(_about(file, "distinct points"), make)


def spread_sample(records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all records, or an evenly spread sample of 1,000 if they exceed 4,000."""
    if len(records) <= LARGEST_WHOLE:
        return records
    return records[np.arange(SAMPLE) * len(records) // SAMPLE]


def nearest_others(points: Points, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distance from some records to their nearest other record, shape (m,)."""
    # the record itself is one of the two nearest distances, wherever ties put it
    return nearest_distances(points, points[rows], 2)[:, 1].copy()


def nearest_distances(points: Points, others: Points, count: int) -> NDArray[np.float64]:
    """Return the distances to the `count` nearest points, ascending, shape (m, count)."""
    if not isinstance(points, CodedPoints):
        bounded = _bounded(points, values_of(others))
        if bounded is not None:
            return _nearest_bounded(bounded, values_of(others), count)
        distances, _ = _tree(points).query(values_of(others), k=list(range(1, count + 1)))
        return np.asarray(distances, dtype=np.float64)
    found = np.empty((len(others), count))
    for block in blocks(len(others), len(points)):
        nearest = np.partition(squared_between(others[block], points), count - 1, axis=1)
        found[block] = np.sort(nearest[:, :count], axis=1)
    return np.sqrt(found, out=found)


def _bounded(points: NDArray[np.float64], others: NDArray[np.float64]) -> BoundedPoints | None:
    """The points as they are asked where they have many coordinates; None where a tree is asked."""
    if not is_quick(points):
        return None
    bounded = BoundedPoints(points)
    return bounded if bounded.holds(others) else None


def _nearest_bounded(
    bounded: BoundedPoints, others: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """`nearest_distances` of points of many coordinates."""
    parts = [np.empty((0, count))]
    for found in bounded.candidates(others, count):
        first, last = int(found.row[0]), int(found.row[-1])
        parts.append(smallest(found, first, last - first + 1, count))
    return np.sqrt(np.concatenate(parts))


def blocks(rows: int, columns: int) -> Iterator[NDArray[np.int64]]:
    """Yield row numbers in blocks whose pairs with all columns fit into memory."""
    size = max(1, BLOCK_PAIRS // columns)
    for start in range(0, rows, size):
        yield np.arange(start, min(start + size, rows))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistinctPoints:
    """The different points of a file, and how many records sit at each.

    Attributes
    ----------
    points : ndarray of float64, shape (v, d), or CodedPoints
    counts : ndarray of int64, shape (v,)
    tree : scipy.spatial.cKDTree or None
        None for coded points, which no such tree holds, and where `bounded` is asked.
    bounded : BoundedPoints or None
        Of many coordinates.
    """

    points: Points
    counts: NDArray[np.int64]
    tree: cKDTree | None
    bounded: BoundedPoints | None = None


def distinct_points(points: Points) -> DistinctPoints:
    """Group the records that share a point."""
    if isinstance(points, CodedPoints):
        values, counts = np.unique(points.values, axis=0, return_counts=True)
        return DistinctPoints(points=replace(points, values=values), counts=counts, tree=None)
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    if is_quick(points):
        bounded = BoundedPoints(distinct)
        if bounded.held:
            return DistinctPoints(points=distinct, counts=counts, tree=None, bounded=bounded)
    return DistinctPoints(points=distinct, counts=counts, tree=_tree(distinct))


def _tree(points: NDArray[np.float64]) -> cKDTree:
    from scipy.spatial import cKDTree

    # halving at the median degenerates where dummies tie; halving the range is ten times faster
    return cKDTree(points, balanced_tree=False)
