"""Nearest distance: isolation of records before and after."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, empty_records
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View
from rwn_core.measures.statistics.nearest_points import (
    nearest_others,
    original_points,
    released_points,
    spread_sample,
)


def compute(comparison: Comparison) -> Reading:
    """Return the median distance from a released record to the nearest other one."""
    points = original_points(comparison)
    rows = spread_sample(np.arange(len(points)))
    before = comparison.cached_for_original("nearest others", lambda: nearest_others(points, rows))
    present = np.flatnonzero(~empty_records(comparison.masked))
    if len(present) < 2:
        raise NotApplicable("The released table has fewer than two records with any value.")
    sample = spread_sample(np.arange(len(present)))
    after = nearest_others(released_points(comparison)[present], sample)
    detail = {
        "original": before,
        "released": after,
        "records_original": rows,
        "records_released": present[sample],
        "sampled": len(sample) < len(present) or len(rows) < len(points),
        "of": len(points),
    }
    return Reading(value=float(np.median(after)), baseline=float(np.median(before)), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how isolated a typical released record is."""
    return (
        f"A typical released record is {reading.value:.2f} standard deviations from the nearest "
        f"other one, against {reading.baseline or 0:.2f} in the original: far from all others is "
        "easy to find. It assumes somebody who has nothing but the release, neither other data nor "
        "the method."
    )


MEASURE = Measure(
    key="nearest_distance",
    title="Nearest distance",
    side="risk",
    better="neutral",
    bounds=FROM_ZERO,
    unit="standard deviations of the original (median)",
    question="How far is a record from the nearest other record of the same file?",
    sentence=sentence,
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
    view=View(charts=("nearest_distance",), bands={"value": FROM_ZERO}, on={"tune": 2}),
)
