"""Regression: whether the steward's analysis still finds the same slopes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.ols import fits


def standardized_difference(
    before: NDArray[np.float64], after: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Change of each coefficient in standard errors of the original.

    Parameters
    ----------
    before, after : ndarray of float64, shape (t,)
        Coefficients of the original and of the release.
    error : ndarray of float64, shape (t,)
        Standard errors of the original, above 0.

    Returns
    -------
    ndarray of float64, shape (t,)
        At least 0.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter, Sanil 2006; Perry, Matloff, Tendick 2022, section 8.
    """
    return np.abs(after - before) / error


def compute(comparison: Comparison) -> Reading:
    """Median change of the slopes, in the original's standard errors."""
    before, after = fits(comparison)
    if before.residual_variance == 0:
        raise NotApplicable(
            f"The predictors explain {before.design.question.response} exactly in the original, "
            "so there are no standard errors to compare with; choose other predictors."
        )
    moved = standardized_difference(before.coefficients, after.coefficients, before.standard_errors)
    detail = {
        "response": before.design.question.response,
        "terms": ["(intercept)", *before.design.terms],
        "coefficient_original": before.coefficients,
        "se_original": before.standard_errors,
        "coefficient_released": after.coefficients,
        "se_released": after.standard_errors,
        "sign_changed": np.sign(before.coefficients) * np.sign(after.coefficients) < 0,
        "standardized_difference": moved,
        "r2_original": before.r2,
        "r2_released": after.r2,
        "n_original": len(before.design.records),
        "n_released": len(after.design.records),
    }
    return Reading(value=float(np.median(moved[1:])), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="regression",
    title="Regression",
    side="utility",
    better="lower",
    bounds=(0.0, float("inf")),
    unit="standard errors (median over slopes)",
    question="Does the chosen regression still find the same slopes?",
    source="Perry, Matloff, Tendick 2022, section 8; Karr and others 2006",
    compute=compute,
)
