"""Cells changed: share of the table that the masking modified."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans
from rwn_core.measures.attacks.likeliest_value import secret_columns
from rwn_core.measures.comparison import Comparison, require_same_records
from rwn_core.measures.measure import SHARE, Measure, Reading, View
from rwn_core.measures.sentence import percent

UNCHANGED = 0.9  # share of the cells of a variable that links rows even where others are masked


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


def unchanged_words(reading: Reading) -> str:
    """Name the variables of which over 90 % of the cells are as in the original; "" for none."""
    pairs = zip(reading.detail["names"], reading.detail["share"], strict=True)
    names = [name for name, share in pairs if share < 1 - UNCHANGED]
    return f"Over 90 % of the cells are unchanged in: {', '.join(names)}." if names else ""


def sentence(reading: Reading, n: int) -> str:
    """Say how many cells differ, and which variables nearly never do."""
    words = (
        f"{percent(reading.value)} of the values differ from the record's own; what stays the same "
        "was kept or came out equal."
    )
    return f"{words} {unchanged_words(reading)}".strip()


MEASURE = Measure(
    key="cells_changed",
    title="Cells changed",
    side="risk",
    better="neutral",
    unit="share of cells",
    question="How many cells have another value than in the original?",
    sentence=sentence,
    source="Perry, Matloff, Tendick 2022, section 5: each cell is modified with probability q",
    compute=compute,
    reads_some=True,
    view=View(bands={"value": SHARE}, recorded=("names", "share"), on={"report": 99}),
)
