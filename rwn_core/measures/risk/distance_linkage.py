"""Distance linkage: the nearest original is taken for the source."""

from __future__ import annotations

from rwn_core.measures.comparison import Comparison, released_rows, require_same_records
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.nearest_points import (
    distinct_originals,
    nearest_links,
    original_points,
)


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that linking to the nearest original finds."""
    original_points(comparison)  # refused without a distance
    require_same_records(comparison.original, comparison.masked)
    candidates = distinct_originals(comparison)  # an intruder holds all of the file
    total = (comparison.file or comparison.original).n
    rows = released_rows(comparison.original, comparison.masked)
    records, score = nearest_links(comparison, candidates, rows)
    detail = {
        "score": score,
        "records": records,
        "sampled": len(records) < total,
        "of": total,
    }
    return Reading(value=float(score.mean()), baseline=comparison.random_share, detail=detail)


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
    of_units=True,
    view=View(on={"report": 99, "scenarios": 1, "attacks": 2}),
)
