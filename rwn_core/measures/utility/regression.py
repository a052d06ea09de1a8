"""Regression: change of the slopes of the steward's analysis."""

from __future__ import annotations

from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, UNBOUNDED, Measure, Reading, View
from rwn_core.measures.statistics.ols import fits, refuse_exact, standardized_difference, turned


def compute(comparison: Comparison) -> Reading:
    """Return the largest change of a slope, in the original's standard errors."""
    before, after = fits(comparison)
    refuse_exact(before, " in the original", "there are no standard errors to compare with")
    moved = standardized_difference(before.coefficients, after.coefficients, before.standard_errors)
    detail = {
        "response": before.design.question.response,
        "terms": ["(intercept)", *before.design.terms],
        "coefficient_original": before.coefficients,
        "se_original": before.standard_errors,
        "coefficient_released": after.coefficients,
        "se_released": after.standard_errors,
        "sign_changed": turned(before.coefficients, after.coefficients, before.standard_errors),
        "standardized_difference": moved,
        "r2_original": before.r2,
        "r2_released": after.r2,
        "n_original": len(before.design.records),
        "n_released": len(after.design.records),
    }
    return Reading(value=float(moved[1:].max()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="regression",
    title="Regression",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard errors (largest of the slopes)",
    question="Does the chosen regression still find the same slopes?",
    source="Perry, Matloff, Tendick 2022, section 8; Karr and others 2006",
    compute=compute,
    view=View(
        charts=("regression",),
        bands={"coefficient_released": UNBOUNDED, "se_released": FROM_ZERO},
        on={"report": 2, "tune": 4},
    ),
)
