"""k-anonymity: sizes of the equivalence classes of the keys."""

from __future__ import annotations

from typing import Any

from rwn_core.data.arrays import Integers
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import class_sizes, key_cells, key_names

LIMITS = (2, 3, 5)
_SHOWN = 3


def violations(sizes: Integers, k: int) -> int:
    """Count the records in equivalence classes of fewer than k records."""
    return int((sizes < k).sum())


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records in equivalence classes of fewer than three."""
    keys = key_names(comparison)
    original, released = key_cells(comparison, keys)
    leaving = released_rows(comparison.original, comparison.masked)
    before, after = class_sizes(original), class_sizes(released[leaving])
    detail: dict[str, Any] = {
        "names": list(keys),
        "limits": list(LIMITS),
        "violations_original": [violations(before, k) for k in LIMITS],
        "violations_released": [violations(after, k) for k in LIMITS],
        "smallest_original": int(before.min()),
        "smallest_released": int(after.min()),
    }
    return Reading(
        value=violations(after, _SHOWN) / len(after),
        baseline=violations(before, _SHOWN) / len(before),
        detail=detail,
    )


MEASURE = Measure(
    key="k_anonymity",
    title="Below 3-anonymity",
    side="risk",
    unit="share of records",
    question="How many records have fewer than two others with the same key values?",
    sentence=filled(
        "{People} share their key values with fewer than two others (original: {base})."
    ),
    source="Sweeney 2002; a missing value matches any. A masked key is neither proof of identity "
    "where it is rare nor protection where it is common",
    compute=compute,
    of_released=True,
    view=View(
        charts=("key_classes",),
        label="below 3-anonymity",
        recorded=("names", "limits", "violations_original", "violations_released"),
        on={"report": 20},
    ),
)
