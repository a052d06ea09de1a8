"""Cells changed: share of the table that the masking modified."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans
from rwn_core.measures.attacks.likeliest_value import secret_columns
from rwn_core.measures.comparison import Comparison, require_same_records
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled


def changed_cells(before: NDArray[Any], after: NDArray[Any]) -> Booleans:
    """Return True for each changed value, shape (n,); missing equals missing."""
    different = np.asarray(before != after, dtype=bool)
    if different.any() and before.dtype.kind == "f":
        different &= ~(np.isnan(before) & np.isnan(after))
    return different


def compute(comparison: Comparison) -> Reading:
    """Return the share of cells with a released value other than the original."""
    original, masked = comparison.original, comparison.masked
    require_same_records(original, masked, "its cells have no counterparts")
    names = [variable.name for variable in original.schema.released]
    before, after = (secret_columns(original, table, names) for table in (original, masked))
    pairs = zip(before, after, strict=True)
    share = np.array([float(changed_cells(*pair).mean()) for pair in pairs])
    overall = float(share.mean())
    q = None if comparison.law is None else float(np.mean(comparison.law.q))
    detail = {
        "names": names,
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
