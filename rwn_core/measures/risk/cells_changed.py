"""Cells changed: share of the table that the masking modified."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans
from rwn_core.data.variable import Kind, Variable
from rwn_core.measures.aligned import codes, numbers, require_same_records
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled


def changed_cells(before: NDArray[Any], after: NDArray[Any]) -> Booleans:
    """Return True for each changed value, shape (n,); missing equals missing."""
    different = np.asarray(before != after, dtype=bool)
    if different.any() and before.dtype.kind == "f":
        different &= ~(np.isnan(before) & np.isnan(after))
    return different


def _share(comparison: Comparison, variable: Variable) -> float:
    original, masked, name = comparison.original, comparison.masked, variable.name
    before: NDArray[Any]
    after: NDArray[Any]
    if variable.kind in (Kind.CATEGORICAL, Kind.ORDERED):
        before, after = codes(original, original, name)[0], codes(original, masked, name)[0]
    else:
        before, after = original.values(name), numbers(original, masked, name)
    return float(changed_cells(before, after).mean())


def compute(comparison: Comparison) -> Reading:
    """Return the share of cells with a released value other than the original."""
    require_same_records(comparison.original, comparison.masked, "its cells have no counterparts")
    released = comparison.original.schema.released
    share = np.array([_share(comparison, variable) for variable in released])
    overall = float(share.mean())
    q = None if comparison.law is None else float(np.mean(comparison.law.q))
    detail = {
        "names": [variable.name for variable in released],
        "share": share,
        "overall": overall,
        "q": q,
    }
    return Reading(value=overall, baseline=q, detail=detail)


MEASURE = Measure(
    key="cells_changed",
    title="Cells changed",
    side="risk",
    better="neutral",
    unit="share of cells",
    question="How many cells have another value than in the original?",
    sentence=filled(
        "{share} of the values differ from the record's own; what stays the same was kept "
        "or came out equal."
    ),
    source="Perry, Matloff, Tendick 2022, section 5: each cell is modified with probability q",
    compute=compute,
    reads_some=True,
)
