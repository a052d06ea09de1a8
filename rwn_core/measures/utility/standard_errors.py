"""Standard errors that the release reports, compared with the original's."""

from __future__ import annotations

import numpy as np

from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View
from rwn_core.measures.statistics.ols import fits, refuse_exact


def compute(comparison: Comparison) -> Reading:
    """Return the median relative change of the slopes' standard errors."""
    before, after = fits(comparison)
    refuse_exact(before, " in the original", "there are no standard errors to compare with")
    ratio = after.standard_errors / before.standard_errors
    detail = {
        "response": before.design.question.response,
        "terms": ["(intercept)", *before.design.terms],
        "se_original": before.standard_errors,
        "se_released": after.standard_errors,
        "ratio": ratio,
    }
    value = float(np.median(np.abs(ratio[1:] - 1)))
    return Reading(value=value, baseline=0.0, detail=detail)


MEASURE = Measure(
    key="standard_errors",
    title="Standard errors",
    side="utility",
    bounds=FROM_ZERO,
    unit="median relative change over slopes",
    question="Does the release report the same standard errors as the original?",
    source="Perry, Matloff, Tendick 2022, section 4; whether they are true needs repeated draws",
    compute=compute,
    view=View(recorded=("terms", "ratio"), on={"report": 99}),
)
