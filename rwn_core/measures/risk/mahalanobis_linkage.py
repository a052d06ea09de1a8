"""Mahalanobis linkage: distances in the covariance of the masking's differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, complete, matrix, require_same_records, varies
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.nearest_points import spread_sample

FLAT = 1e-10  # share of the largest variance below which a direction counts as unchanged
TIE = 1e-9


def difference_root(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return a root of the inverse of the covariance of x - x', (m, m), and flat means, (m,)."""
    # An unchanged variable, or a direction with the same change in all records, has no variance:
    # there a row must agree with its source. The means are the changes in such directions.
    change = before - after
    mean = change.mean(axis=0)
    change = change - mean
    values, vectors = np.linalg.eigh(change.T @ change / max(len(change) - 1, 1))
    least = FLAT * values.max(initial=0.0)
    if least <= 0:
        raise NotApplicable(
            "Masking moves no number beyond a common shift, so there is no covariance of the "
            "differences; look at distance linkage."
        )
    root = vectors / np.sqrt(np.maximum(values, least))
    return np.asarray(root), np.where(values > least, 0.0, mean @ root)


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that are nearest to their source."""
    original, masked = comparison.original, comparison.masked
    require_same_records(original, masked)
    before = matrix(original, original, original.numeric_names)
    after = matrix(original, masked, original.numeric_names)
    rows = np.intersect1d(complete(before), complete(after))
    if rows.size < 2 or not varies(before[rows]).any():
        raise NotApplicable("There are no two complete records with numbers that vary.")
    varied = varies(before[rows])
    before, after = before[np.ix_(rows, varied)], after[np.ix_(rows, varied)]
    size = np.abs(before).max(axis=0)
    before, after = before / size, np.clip(after / size, -1e100, 1e100)
    root, moved = difference_root(before, after)
    chosen = spread_sample(np.arange(len(rows)))
    units = rows if comparison.units is None else comparison.units[rows]
    score = _scores(before @ root, after[chosen] @ root + moved, units, units[chosen])
    detail: dict[str, Any] = {
        "names": [n for n, k in zip(original.numeric_names, varied, strict=True) if k],
        "score": score,
        "records": rows[chosen],
        "sampled": len(chosen) < len(rows),
        "of": len(rows),
    }
    return Reading(
        value=float(score.mean()),
        baseline=1.0 / len(np.unique(units)),
        detail=detail,
    )


def _scores(points: Floats, released: Floats, units: Integers, truth: Integers) -> Floats:
    """Return the chance of a correct link of each released record; ties share."""
    score = np.empty(len(released))
    for number, row in enumerate(released):
        squared = ((points - row) ** 2).sum(axis=1)
        edge = squared.min() * (1 + TIE) + 1e-18
        near = squared <= edge
        score[number] = near[units == truth[number]].sum() / near.sum()
    return score


def sentence(reading: Reading, n: int) -> str:
    """Say how many of the records without missing numbers are linked."""
    total = reading.detail["of"]
    whose = "" if total == n else " that have all their numbers in both files"
    return (
        "With a distance that knows how the masking moves the numbers together it finds "
        f"{people(reading.value, total)}{whose}."
    )


MEASURE = Measure(
    key="mahalanobis_linkage",
    title="Mahalanobis linkage",
    side="risk",
    unit="share of records",
    question="How often is the nearest original the true source, for an intruder who knows how "
    "strongly the masking moved the numbers together?",
    sentence=sentence,
    source="Torra, Abowd, Domingo-Ferrer 2006; inverse of S + S' - 2 Cov(X, X')",
    compute=compute,
    of_units=True,
    view=View(on={"report": 99, "scenarios": 2}),
)
