"""Correlations: change of the linear relation of each pair."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, matrix
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.association import CORRELATIONS, correlation_matrix, pair_changes

ZERO = 1e-12  # a correlation nearer to 0 has no sign but that of rounding


def sign_changes(before: Floats, after: Floats) -> int:
    """Count the correlations that changed sign; NaN has no sign."""
    signs = [np.where(np.abs(r) > ZERO, np.sign(r), 0.0) for r in (before, after)]
    return int((signs[0] * signs[1] < 0).sum())


def compute(comparison: Comparison) -> Reading:
    """Return the mean absolute change of the correlations of all pairs of numeric variables."""
    original = comparison.original
    names = original.numeric_names
    if len(names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    before = comparison.cached_for_original(
        CORRELATIONS, lambda: correlation_matrix(matrix(original, original, names))
    )
    after = comparison.cached_for_release(
        CORRELATIONS, lambda: correlation_matrix(matrix(original, comparison.masked, names))
    )
    change = pair_changes(before, after, "No pair of numeric variables varies in both tables.")
    mean_change = float(change.mean())
    pairs = np.triu_indices(len(names), 1)
    detail = {
        "names": list(names),
        "original": before,
        "released": after,
        "mean_absolute_change": mean_change,
        "sign_changes": sign_changes(before[pairs], after[pairs]),
        "pairs": len(change),
    }
    return Reading(value=mean_change, baseline=0.0, detail=detail)


MEASURE = Measure(
    key="correlation",
    title="Correlations",
    side="utility",
    bounds=(0.0, 2.0),
    unit="mean absolute change",
    question="How far did the correlations of pairs of numeric variables move?",
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
    view=View(
        charts=("correlation", "correlation_change"),
        bands={"released": (-1.0, 1.0)},
        on={"report": 1, "tune": 3},
    ),
)
