"""Records as points in the original's standard deviations, for nearest records.

Weights do not count: they steer the masking, and an intruder ignores them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.nearest_points import PointIndex, distinct_points
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.points import CodedPoints, Points, point_values

# decides: records up to which the nearest of each is found; of more, of `SAMPLE` spread evenly
ALL_RECORDS = 4000
SAMPLE = 1000  # records searched beyond that
FARTHEST = 1e150  # standard deviations


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
        "unweighted points", lambda: contiguous_rows(metric.coded(comparison.original))
    )


def released_points(comparison: Comparison) -> Points:
    """Return the released records as points of `unweighted_metric`, shape (n, d)."""
    metric = unweighted_metric(comparison)

    def make() -> Points:
        points = metric.coded(comparison.masked)
        # another tool's noise may leave the original's range by far: squares stay finite
        values = np.ascontiguousarray(np.clip(point_values(points), -FARTHEST, FARTHEST))
        return replace(points, values=values) if isinstance(points, CodedPoints) else values

    return comparison.cached_for_release("unweighted released points", make)


def contiguous_rows(points: Points) -> Points:
    """Return the points with each record's values next to each other in memory."""
    values = np.ascontiguousarray(point_values(points))
    return replace(points, values=values) if isinstance(points, CodedPoints) else values


def distinct_originals(comparison: Comparison) -> PointIndex:
    """Return the distinct points of the full file, also if a sample is shown."""
    file, metric = _file(comparison), unweighted_metric(comparison)

    key = _about(file, "distinct points")
    return file.cached(key, lambda: distinct_points(contiguous_rows(metric.coded(file))))


def spread_sample(records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all records, or an evenly spread sample of 1,000 if they exceed 4,000."""
    if len(records) <= ALL_RECORDS:
        return records
    return records[np.arange(SAMPLE) * len(records) // SAMPLE]
