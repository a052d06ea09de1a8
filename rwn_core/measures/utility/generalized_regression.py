"""Logistic or Poisson regression, if the response suits it."""

from __future__ import annotations

from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, UNBOUNDED, Measure, Reading, View
from rwn_core.measures.statistics.glm import generalized_fits
from rwn_core.measures.statistics.ols import standardized_difference, turned


def compute(comparison: Comparison) -> Reading:
    """Return the largest change of a slope, in the original's standard errors."""
    before, after = generalized_fits(comparison)
    fitted = before.coefficients, after.coefficients, before.standard_errors
    moved = standardized_difference(*fitted)
    detail = {
        "response": before.response,
        "family": before.family,
        "terms": ["(intercept)", *before.terms],
        "coefficient_original": before.coefficients,
        "se_original": before.standard_errors,
        "coefficient_released": after.coefficients,
        "se_released": after.standard_errors,
        "sign_changed": turned(*fitted),
        "standardized_difference": moved,
        "r2_original": before.r2,
        "r2_released": after.r2,
        "n_original": before.records,
        "n_released": after.records,
    }
    return Reading(value=float(moved[1:].max()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="generalized_regression",
    title="Logistic or Poisson regression",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard errors (largest of the slopes)",
    question="Does the logistic or Poisson regression still find the same slopes?",
    source="McCullagh and Nelder 1989; Karr and others 2006",
    compute=compute,
    view=View(bands={"coefficient_released": UNBOUNDED, "se_released": FROM_ZERO}),
)
