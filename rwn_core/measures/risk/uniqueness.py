"""Uniqueness: sample uniques on the key variables, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import class_sizes, key_cells, key_names


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that are unique on the keys."""
    keys = key_names(comparison)
    before_cells, after_cells = key_cells(comparison, keys)
    before = class_sizes(before_cells) == 1
    leaving = released_rows(comparison.original, comparison.masked)
    after = np.zeros(len(after_cells), dtype=bool)
    after[leaving] = class_sizes(after_cells[leaving]) == 1
    detail: dict[str, Any] = {
        "names": list(keys),
        "original": int(before.sum()),
        "released": int(after.sum()),
        "table": None,
    }
    if comparison.law is not None and len(before) == len(after):
        detail["table"] = _linked_table(comparison, keys, before, after)
    return Reading(value=float(after[leaving].mean()), baseline=float(before.mean()), detail=detail)


def _linked_table(comparison: Comparison, keys: Any, before: Any, after: Any) -> Any:
    """Return the correct links by uniqueness in the original and in the release."""
    try:
        links = worst_case(comparison, keys).links
    except NotApplicable:
        return None
    rows = links.rows
    cells = []
    for was in (True, False):
        for is_now in (True, False):
            chosen = (before[rows] == was) & (after[rows] == is_now)
            count = int(chosen.sum())
            cells.append(
                {
                    "unique_original": was,
                    "unique_released": is_now,
                    "records": count,
                    "linked": float(np.clip(links.top1[chosen].sum(), 0, count)),
                }
            )
    return cells


MEASURE = Measure(
    key="uniqueness",
    title="Unique on the keys",
    side="risk",
    unit="share of records",
    question="How many records are alone with their combination of key values?",
    sentence=filled(
        "{People} are alone with their key values (original: {base}); with masked keys that is no "
        "proof of identity."
    ),
    source="Hundepool et al. 2012, chapter 3; for masked keys compare with worst-case linkage",
    compute=compute,
    of_released=True,
    view=View(charts=("key_classes",), label="unique on the keys", on={"report": 20}),
)
