"""Distance linkage: the nearest original is taken for the source."""

from __future__ import annotations

import numpy as np

from rwn_core.measures.aligned import empty_records, released_rows, require_same_records
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.nearest_points import linkage_scores
from rwn_core.measures.statistics.nearest_record import (
    distinct_originals,
    original_points,
    released_points,
    spread_sample,
)


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that linking to the nearest original finds."""
    points = original_points(comparison)
    require_same_records(comparison.original, comparison.masked)
    candidates = distinct_originals(comparison)  # an intruder holds all of the file
    of = len(points) if comparison.file is None else comparison.file.n
    rows = released_rows(comparison.original, comparison.masked)
    records = spread_sample(rows)
    score = np.zeros(len(records))
    present = ~empty_records(comparison.masked)[records]  # nothing links an empty record
    linked = records[present]
    score[present] = linkage_scores(candidates, released_points(comparison)[linked], points[linked])
    detail = {
        "score": score,
        "records": records,
        "sampled": len(records) < of,
        "of": of,
    }
    return Reading(value=float(score.mean()), baseline=1.0 / of, detail=detail)


MEASURE = Measure(
    key="distance_linkage",
    title="Distance linkage",
    side="risk",
    unit="share of records",
    question="How often is the nearest original record the true source of a released one?",
    sentence=filled(
        "Taking the nearest original for the source, as common tools do, finds {people}."
    ),
    source="Domingo-Ferrer and Torra 2001; ties share their link",
    compute=compute,
    reads_some=True,
    of_released=True,
)
