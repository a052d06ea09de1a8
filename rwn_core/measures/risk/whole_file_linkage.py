"""Whole-file linkage: the most likely assignment of all rows to all originals."""

from __future__ import annotations

import numpy as np

from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison, require_same_records
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import key_names


def compute(comparison: Comparison) -> Reading:
    """Return the share of records that the most likely assignment on the keys links correctly."""
    keys, n = key_names(comparison), comparison.original.n
    if comparison.law is not None:
        why = "not every original has a row of its own"
        require_same_records(comparison.original, comparison.masked, why)
    found = worst_case(comparison, keys)
    if found.matched is None:
        raise NotApplicable(
            f"All records are assigned at once where at most {LARGEST_ASSIGNMENT:,} of them could "
            f"change places, and the table has {n:,}; look at linkage by the keys, which is a "
            "lower bound."
        )
    units = np.arange(n) if comparison.units is None else comparison.units
    right = None if found.linked is None else units[found.linked] == units
    detail = {"names": list(keys), "linked": found.linked, "right": right}
    return Reading(value=found.matched, baseline=comparison.random_share, detail=detail)


MEASURE = Measure(
    key="whole_file_linkage",
    title="Whole-file linkage",
    side="risk",
    unit="share of records",
    question="How many records does the worst-case intruder link correctly by the key variables "
    "when all released rows are linked at once, each original to one row?",
    sentence=filled("Linking all rows at once by {keys}, each person once, finds {people}."),
    source="Maximum-weight assignment of the likelihoods; Burkard, Dell'Amico, Martello 2009",
    compute=compute,
    of_released=True,
    of_units=True,
    view=View(on={"report": 99, "worst cases": 3}),
)
