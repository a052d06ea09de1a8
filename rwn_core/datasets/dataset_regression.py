"""Least squares of a dataset, from its means and covariances alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.question import Question
from rwn_core.datasets.dataset_statistics import DatasetStatistics
from rwn_core.errors import NotApplicable

_EXACT = 1e-12  # share of a variance that rounding alone leaves


def coefficients(found: DatasetStatistics, question: Question) -> dict[str, float]:
    """Find the coefficients of a regression."""
    scaled, scale, means = _parts(found, question)
    slopes, *_ = np.linalg.lstsq(scaled[:-1, :-1], scaled[:-1, -1], rcond=None)
    slopes = slopes * scale[-1] / scale[:-1]
    intercept = means[-1] - slopes @ means[:-1]
    names = question.predictors
    return {"intercept": float(intercept), **dict(zip(names, slopes.tolist(), strict=True))}


def standard_errors(found: DatasetStatistics, question: Question) -> NDArray[np.float64]:
    """Find the standard errors of a regression's slopes."""
    scaled, scale, _ = _parts(found, question)
    inner, free = scaled[:-1, :-1], found.n - len(scaled)
    if free < 1 or np.linalg.matrix_rank(inner, hermitian=True) < len(inner):
        raise NotApplicable("The predictors follow from each other; choose fewer of them.")
    residual = scaled[-1, -1] - scaled[-1, :-1] @ np.linalg.solve(inner, scaled[:-1, -1])
    if residual <= _EXACT:
        raise NotApplicable("The predictors explain the response exactly; choose other ones.")
    unscaled = np.sqrt(np.diag(np.linalg.inv(inner)) * residual / free)
    errors: NDArray[np.float64] = unscaled * scale[-1] / scale[:-1]
    return errors


def _parts(
    found: DatasetStatistics, question: Question
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Covariances over standard deviations, these, and the means; the response is the last."""
    names = [*question.predictors, question.response]
    if any(name not in found.numeric for name in names):
        raise NotApplicable("The regression of a dataset needs continuous or count variables.")
    if any(found.columns[name].count < found.n for name in names):
        raise NotApplicable("The regression of a dataset needs variables without missing values.")
    rows = [found.numeric.index(name) for name in names]
    covariance = found.covariance[np.ix_(rows, rows)]
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    means = np.array([found.columns[name].mean for name in names])
    return covariance / np.outer(scale, scale), scale, means
