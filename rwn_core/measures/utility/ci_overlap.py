"""Confidence interval overlap of the original's and the release's slopes."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.ols import fits, refuse_exact

Z95 = 1.96


def interval_overlap(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> Floats:
    """Return the mean relative overlap of two intervals, shape (t,); below 0 if they are apart."""
    # Karr and others 2006; unclipped: Snoke and others 2018.
    shared = np.minimum(before[1], after[1]) - np.maximum(before[0], after[0])
    return np.asarray((shared / (before[1] - before[0]) + shared / (after[1] - after[0])) / 2)


def compute(comparison: Comparison) -> Reading:
    """Return the mean overlap of the slopes' 95 % intervals."""
    before, after = fits(comparison)
    for fit, where in ((before, " in the original"), (after, RELEASED)):
        refuse_exact(fit, where, "its intervals have no width")
    ends = [
        (fit.coefficients - Z95 * fit.standard_errors, fit.coefficients + Z95 * fit.standard_errors)
        for fit in (before, after)
    ]
    overlap = interval_overlap(*ends)
    detail = {
        "response": before.design.question.response,
        "terms": ["(intercept)", *before.design.terms],
        "overlap": overlap,
        "clipped": np.clip(overlap, 0.0, 1.0),
        "mean_clipped": float(np.clip(overlap[1:], 0.0, 1.0).mean()),
        "disjoint": int((overlap[1:] < 0).sum()),
        "standardized_difference": np.abs(after.coefficients - before.coefficients)
        / before.standard_errors,
    }
    return Reading(value=float(overlap[1:].mean()), baseline=1.0, detail=detail)


MEASURE = Measure(
    key="ci_overlap",
    title="Confidence interval overlap",
    side="utility",
    better="higher",
    bounds=(float("-inf"), 1.0),
    unit="mean overlap over slopes; below 0: apart",
    question="Do the 95 % intervals of the slopes say the same in both files?",
    source="Karr and others 2006; Snoke and others 2018",
    compute=compute,
    view=View(on={"report": 99}),
)
