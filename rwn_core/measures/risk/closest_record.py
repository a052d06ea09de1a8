"""Distance of released rows to the closest original record."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, empty_records
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading
from rwn_core.measures.statistics.nearest_points import (
    contiguous_rows,
    nearest_distances,
    nearest_others,
    original_points,
    released_points,
    spread_sample,
    unweighted_metric,
)
from rwn_core.neighbors.distance import Points


def nearness_ratio(first: Floats, second: Floats) -> Floats:
    """Return d1 / d2 of each row, from 0 to 1; 1 if both are 0."""
    return np.divide(first, second, out=np.ones_like(first), where=second > 0)


def _share_nearer(comparison: Comparison, points: Points, released: Points) -> float | None:
    """Return the share of rows that are nearer to originals than to as many held-out records."""
    if comparison.holdout is None:
        return None
    held = contiguous_rows(unweighted_metric(comparison).coded(comparison.holdout))
    size = min(len(held), len(points))
    even = points[np.arange(size) * len(points) // size]
    near = nearest_distances(even, released, 1)[:, 0]
    far = nearest_distances(held[np.arange(size)], released, 1)[:, 0]
    return float(((near < far) + 0.5 * (near == far)).mean())


def compute(comparison: Comparison) -> Reading:
    """Return the median distance of a released row to its nearest original."""
    points = original_points(comparison)
    rows = spread_sample(np.flatnonzero(~empty_records(comparison.masked)))
    if not rows.size:
        raise NotApplicable("The release has no values at all.")
    released = released_points(comparison)[rows]
    first, second = nearest_distances(points, released, 2).T.copy()
    sample = spread_sample(np.arange(len(points)))
    usual = comparison.cached_for_original("nearest others", lambda: nearest_others(points, sample))
    detail: dict[str, Any] = {
        "distance": first,
        "ratio": nearness_ratio(first, second),
        "records": rows,
        "fifth_percentile": float(np.quantile(first, 0.05)),
        "exact_copies": rows[first == 0],
        "share_nearer_than_holdout": _share_nearer(comparison, points, released),
        "sampled": len(rows) < comparison.masked.n,
        "of": comparison.masked.n,
    }
    return Reading(value=float(np.median(first)), baseline=float(np.median(usual)), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how near released rows are to originals, and how many are copies."""
    count = len(reading.detail["exact_copies"])
    copies = f"{count:,} rows are exact copies." if count else "No row is an exact copy."
    if count == 1:
        copies = "1 row is an exact copy."
    return (
        f"A released row is {reading.value:.2f} standard deviations from the nearest original; "
        f"neighboring originals are {reading.baseline or 0:.2f} apart. {copies} It "
        "assumes somebody who holds whole original records and compares distances, without the "
        "method: who knows the method links more."
    )


MEASURE = Measure(
    key="closest_record",
    title="Distance to the closest record",
    side="risk",
    better="higher",
    bounds=FROM_ZERO,
    unit="standard deviations, median",
    question="How far is a released row from the nearest original record, compared with "
    "neighboring originals?",
    sentence=sentence,
    source="Distance to closest record of synthetic-data practice; no proof of privacy",
    compute=compute,
)
