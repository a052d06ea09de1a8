"""Global distance linkage: the assignment of all records with the least total distance."""

from __future__ import annotations

import numpy as np

from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import (
    cheapest_assignment,
    expected_right,
    in_classes,
)
from rwn_core.measures.comparison import Comparison, released_rows, require_same_records
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import cell_codes
from rwn_core.measures.statistics.nearest_points import original_points, released_points
from rwn_core.neighbors.distance import squared_between


def compute(comparison: Comparison) -> Reading:
    """Return the share of records that the assignment of least squared distance links correctly."""
    points = original_points(comparison)
    n = len(points)
    why = "not every original has a row of its own"
    require_same_records(comparison.original, comparison.masked, why)
    if n > LARGEST_ASSIGNMENT:
        raise NotApplicable(
            f"All records are linked at once for at most {LARGEST_ASSIGNMENT:,} of them, and the "
            f"table has {n:,}; look at distance linkage."
        )
    names = [variable.name for variable in comparison.original.schema.released]
    before, after = cell_codes(comparison, names)
    squared = squared_between(points, released_points(comparison))
    rows_left = released_rows(comparison.original, comparison.masked)
    leaves = np.isin(np.arange(n), rows_left)
    squared[:, ~leaves] = 0.0  # a missing row may be of any record
    squared /= max(float(squared.max()), 1e-300)  # the rounding of ties needs a common size
    (originals, person), (rows, row) = in_classes(before), in_classes(after)
    linked = cheapest_assignment(squared, originals, rows)
    units = np.arange(n) if comparison.units is None else comparison.units
    right = min(expected_right(linked, person, row, leaves, units) / len(rows_left), 1.0)
    detail = {"linked": linked, "right": units[linked] == units}
    return Reading(value=right, baseline=comparison.random_share, detail=detail)


MEASURE = Measure(
    key="global_linkage",
    title="Global distance linkage",
    side="risk",
    unit="share of records",
    question="How many records are linked correctly when each original gets one released row and "
    "the total squared distance is smallest?",
    sentence=filled(
        "Giving each original one row, at the smallest total distance, finds {people}."
    ),
    source="Herranz, Nin, Rodriguez, Tassa 2015",
    compute=compute,
    of_released=True,
    of_units=True,
    view=View(on={"report": 99, "scenarios": 3}),
)
