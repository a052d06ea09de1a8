"""Whole-file linkage: the worst-case intruder uses that each person is in the file once."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import whole_file_links
from rwn_core.measures.attacks.exchangeable_records import canonical_order, expected_right
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import cell_codes, key_names


def compute(comparison: Comparison) -> Reading:
    """Share of records that the most likely assignment on the key variables links rightly."""
    if comparison.law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    keys = key_names(comparison)
    if comparison.masked.n != comparison.original.n:
        raise NotApplicable(
            "The released table has another number of records than the original, so not every "
            "original has a row of its own."
        )
    released = [variable.name for variable in comparison.original.schema.released]
    before, after = cell_codes(comparison, released)
    orders = canonical_order(before), canonical_order(after)
    linked = whole_file_links(comparison.law, comparison.masked, keys, orders)
    n = len(linked)
    known = [released.index(name) for name in keys]
    right = expected_right(linked, before, after[:, known])
    detail = {"names": list(keys), "linked": linked, "right": linked == np.arange(n)}
    return Reading(value=min(right / n, 1.0), baseline=1.0 / n, detail=detail)


MEASURE = Measure(
    key="whole_file_linkage",
    title="Whole-file linkage",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many records does the worst-case intruder link rightly by the key variables "
    "when all released rows are linked at once, each original to one row?",
    sentence=filled("Linking all rows at once by {keys}, each person once, finds {people}."),
    source="Maximum-weight assignment of the likelihoods; Burkard, Dell'Amico, Martello 2009",
    compute=compute,
)
