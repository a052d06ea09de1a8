"""Special uniques (SUDA): records that few key variables single out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.aligned import released_rows
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import cell_codes, classes, key_names

LARGEST = 3  # key variables of a minimal unique that is looked for
MOST_KEYS = 10


def scores(
    cells: NDArray[np.int64], largest: int = LARGEST
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each record's SUDA score and the size of its smallest minimal unique, shape (n,).

    Elliot, Manning, Ford 2002; Manning, Haglin, Keane 2008. A minimal unique of size k adds the
    product of (m - i), i = k, ..., largest. Missing (-1) is a value.
    """
    n, m = cells.shape
    score, smallest = np.zeros(n), np.zeros(n, dtype=np.int64)
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for size in range(1, min(largest, m) + 1):
        weight = float(np.prod([max(m - i, 1) for i in range(size, largest + 1)]))
        for chosen in combinations(range(m), size):
            group = classes(cells[:, chosen])
            alone = np.bincount(group)[group] == 1
            for smaller in combinations(chosen, size - 1) if size > 1 else ():
                alone = alone & ~unique[smaller]
            score += weight * alone
            smallest = np.where(alone & (smallest == 0), size, smallest)
            unique[chosen] = alone | _already(unique, chosen, n)
    return score, smallest


def _already(
    unique: dict[tuple[int, ...], NDArray[np.bool_]], chosen: tuple[int, ...], n: int
) -> NDArray[np.bool_]:
    """Return True for records that a subset of these variables singles out."""
    result = np.zeros(n, dtype=bool)
    if len(chosen) > 1:
        for smaller in combinations(chosen, len(chosen) - 1):
            result |= unique[smaller]
    return result


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that at most three key variables single out."""
    keys = key_names(comparison)[:MOST_KEYS]
    before_cells, after_cells = cell_codes(comparison, keys)
    before, before_size = scores(before_cells)
    leaving = released_rows(comparison.original, comparison.masked)
    after, after_size = np.zeros(len(after_cells)), np.zeros(len(after_cells), dtype=np.int64)
    after[leaving], after_size[leaving] = scores(after_cells[leaving])
    detail: dict[str, Any] = {
        "names": list(keys),
        "score_original": before,
        "score_released": after,
        "sizes": list(range(1, LARGEST + 1)),
        "count_original": [int((before_size == s).sum()) for s in range(1, LARGEST + 1)],
        "count_released": [int((after_size == s).sum()) for s in range(1, LARGEST + 1)],
        "worst": np.argsort(-after, kind="stable")[:10],
    }
    return Reading(
        value=float((after_size[leaving] > 0).mean()),
        baseline=float((before_size > 0).mean()),
        detail=detail,
    )


MEASURE = Measure(
    key="suda",
    title="Special uniques",
    side="risk",
    unit="share of records",
    question="How many records do at most three key variables single out?",
    sentence=filled("Up to three key variables single out {people}."),
    source="SUDA: Elliot, Manning, Ford 2002; minimal uniques of up to three variables, of the "
    "first ten keys",
    compute=compute,
    of_released=True,
)
