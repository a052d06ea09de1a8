"""Regressions: what the steward's model still says."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.measure import FROM_ZERO, UNBOUNDED, Measure, Reading, View
from rwn_core.measures.statistics.glm import generalized_fits
from rwn_core.measures.statistics.ols import fits, refuse_exact, standardized_difference, turned

# Regression: change of the slopes of the steward's analysis


def compute_regression(comparison: Comparison) -> Reading:
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


REGRESSION = Measure(
    key="regression",
    title="Regression",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard errors (largest of the slopes)",
    question="Does the chosen regression still find the same slopes?",
    source="Perry, Matloff, Tendick 2022, section 8; Karr and others 2006",
    compute=compute_regression,
    view=View(
        charts=("regression",),
        bands={"coefficient_released": UNBOUNDED, "se_released": FROM_ZERO},
        places={"report": 2, "tune": 4},
    ),
)


# R squared: change of the share of variance that the steward's regression explains


def compute_r_squared(comparison: Comparison) -> Reading:
    """Return the absolute change of the regression's R squared."""
    before, after = (fit.r2 for fit in fits(comparison))
    detail = {"original": before, "released": after}
    return Reading(value=abs(after - before), baseline=0.0, detail=detail)


R_SQUARED = Measure(
    key="r_squared",
    title="R squared",
    side="utility",
    unit="absolute change",
    question="Does the chosen regression explain as much of the response as before?",
    source="Perry, experiments of 2023 with RWN",
    compute=compute_r_squared,
)


# Confidence interval overlap of the original's and the release's slopes

Z95 = 1.96


def interval_overlap(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> Floats:
    """Return the mean relative overlap of two intervals, shape (t,); below 0 if they are apart."""
    # Karr and others 2006; unclipped: Snoke and others 2018.
    shared = np.minimum(before[1], after[1]) - np.maximum(before[0], after[0])
    return np.asarray((shared / (before[1] - before[0]) + shared / (after[1] - after[0])) / 2)


def compute_ci_overlap(comparison: Comparison) -> Reading:
    """Return the mean overlap of the slopes' 95 % intervals."""
    # -+ 1.96 standard errors at every number of records, as in its worked values; all other
    # intervals of a linear model are Student's t
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


CI_OVERLAP = Measure(
    key="ci_overlap",
    title="Confidence interval overlap",
    side="utility",
    better="higher",
    bounds=(float("-inf"), 1.0),
    unit="mean overlap over slopes; below 0: apart",
    question="Do the 95 % intervals of the slopes say the same in both files?",
    source="Karr and others 2006; Snoke and others 2018",
    compute=compute_ci_overlap,
    view=View(places={"report": 99}),
)


# Standard errors that the release reports, compared with the original's


def compute_standard_errors(comparison: Comparison) -> Reading:
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


STANDARD_ERRORS = Measure(
    key="standard_errors",
    title="Standard errors",
    side="utility",
    bounds=FROM_ZERO,
    unit="median relative change over slopes",
    question="Does the release report the same standard errors as the original?",
    source="Perry, Matloff, Tendick 2022, section 4; whether they are true needs repeated draws",
    compute=compute_standard_errors,
    view=View(recorded=("terms", "ratio"), places={"report": 99}),
)


# Logistic or Poisson regression, if the response suits it


def compute_generalized_regression(comparison: Comparison) -> Reading:
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


GENERALIZED_REGRESSION = Measure(
    key="generalized_regression",
    title="Logistic or Poisson regression",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard errors (largest of the slopes)",
    question="Does the logistic or Poisson regression still find the same slopes?",
    source="McCullagh and Nelder 1989; Karr and others 2006",
    compute=compute_generalized_regression,
    view=View(bands={"coefficient_released": UNBOUNDED, "se_released": FROM_ZERO}),
)
