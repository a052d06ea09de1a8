"""Least squares fits of the steward's regression to the original and to the release.

Own code, as for the intervals of proportions: importing statsmodels would delay the first picture
by .5 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import RELEASED, standardized
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.design_matrix import Design, design_matrix

COLLINEAR = 1e-7  # smallest over largest singular value of the standardized predictors, as in R
EXACT = 1e-20  # residual over total sum of squares that rounding alone leaves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeastSquares:
    """One fitted regression.

    Attributes
    ----------
    design : Design
        m records, t coefficients with the intercept.
    coefficients, standard_errors : ndarray of float64, shape (t,)
        The intercept first; in the units of the data.
    r2 : float
        Share of the response's variance explained, from 0 to 1.
    residuals : ndarray of float64, shape (m,)
        In standard deviations of the response.
    leverages : ndarray of float64, shape (m,)
        Diagonal of the hat matrix, from 0 to 1.
    residual_variance : float
        Divisor m - t; 0 where the predictors explain the response exactly.
    dependence : ndarray of float64, shape (t, m)
        What each record contributes to each standardized coefficient.
    """

    design: Design
    coefficients: Floats
    standard_errors: Floats
    r2: float
    residuals: Floats
    leverages: Floats
    residual_variance: float
    dependence: Floats


def fits(comparison: Comparison) -> tuple[LeastSquares, LeastSquares]:
    """Fit the comparison's regression to the original and to the release."""
    original, question = comparison.original, comparison.question
    before = comparison.cached_for_original(
        ("least squares", question),
        lambda: least_squares(design_matrix(original, original, question)),
    )
    masked = comparison.masked
    after = comparison.cached_for_release(
        ("least squares", question),
        lambda: least_squares(design_matrix(original, masked, question, RELEASED), RELEASED),
    )
    return before, after


def least_squares(design: Design, where: str = "") -> LeastSquares:
    """Fit a regression by QR; refuse collinear predictors by name."""
    # standardized columns: neither a large unit nor a large mean costs digits or rank
    scaled = standardized(design.columns)
    response = standardized(design.response[:, None])[:, 0]
    exog = np.column_stack([np.ones(len(scaled)), scaled])
    basis, triangle = np.linalg.qr(exog)
    _check_rank(design, scaled, np.linalg.svd(triangle, compute_uv=False), where)
    inverse = np.linalg.inv(triangle)
    dependence = inverse @ basis.T
    params = dependence @ response
    residuals = response - exog @ params
    unexplained, records = float(residuals @ residuals), len(response)
    ratio = unexplained / float(((response - response.mean()) ** 2).sum())
    exact = ratio < EXACT
    variance = unexplained / (records - exog.shape[1]) if records > exog.shape[1] else np.nan
    return LeastSquares(
        design=design,
        r2=1.0 if exact else 1 - ratio,
        residuals=residuals,
        leverages=np.clip(np.einsum("ij,ij->i", basis, basis), 0.0, 1.0),
        residual_variance=0.0 if exact else variance,
        dependence=dependence,
        **_in_units(design, params, inverse @ inverse.T * variance),
    )


def refuse_exact(fit: LeastSquares, where: str, because: str) -> None:
    """Refuse a fit without residual variance."""
    if fit.residual_variance == 0:
        raise NotApplicable(
            f"The predictors explain {fit.design.question.response} exactly{where}, so {because}; "
            "choose other predictors."
        )


def _in_units(design: Design, params: Floats, covariance: Floats) -> dict[str, Floats]:
    """Return coefficients and standard errors in the units of the columns."""
    unit, center = _sd(design.response), design.response.mean()
    units = np.array([_sd(column) for column in design.columns.T])
    back = np.concatenate(([1.0], -design.columns.mean(axis=0) / units))
    slopes = params[1:] * (unit / units)
    intercept = center + unit * (back @ params)
    error = np.sqrt(max(float(back @ covariance @ back), 0.0)) * unit
    errors = np.sqrt(np.diag(covariance)[1:]) * (unit / units)
    return {
        "coefficients": np.concatenate(([intercept], slopes)),
        "standard_errors": np.concatenate(([error], errors)),
    }


def _sd(values: Floats) -> float:
    centered = values - values.mean()
    largest = float(np.abs(centered).max())
    return largest * float((centered / largest).std(ddof=1))


def _check_rank(design: Design, scaled: Floats, singular: Floats, where: str) -> None:
    if singular.min() > COLLINEAR * singular.max():
        return
    left = np.abs(np.diag(np.linalg.qr(scaled, mode="r"))) / np.sqrt(len(scaled) - 1)
    tied = left <= max(10 * COLLINEAR, left.min())
    names = [term for term, one in zip(design.terms, tied, strict=True) if one]
    raise NotApplicable(
        f"These predictors are collinear with the others{where}: {', '.join(names)}; take them "
        "out of the regression."
    )


SIGNIFICANT = 2.0  # standard errors of the original from 0, from which on its sign counts


def standardized_difference(before: Floats, after: Floats, error: Floats) -> Floats:
    """Return the change of each coefficient in standard errors of the original, shape (t,)."""
    return np.abs(after - before) / error


def turned(before: Floats, after: Floats, error: Floats) -> Booleans:
    """Return True for coefficients that changed a sign that was significant in the original."""
    return (np.sign(before) * np.sign(after) < 0) & (np.abs(before) > SIGNIFICANT * error)
