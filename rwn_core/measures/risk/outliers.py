"""Outlying records: influence on a regression, and distance from the center."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import (
    RELEASED,
    Comparison,
    complete,
    matrix,
    standardized,
    varies,
)
from rwn_core.measures.measure import (
    FROM_ZERO,
    Measure,
    Reading,
    RecordValues,
    Sides,
    View,
    largest_of_both,
)
from rwn_core.measures.statistics.ols import LeastSquares, fits, refuse_exact

# Cook's distance of the original and of the masked data, each with a regression of its own

FULL_LEVERAGE = 1e-10  # a leverage closer to 1 than this leaves no residual to judge


def _cooks(fit: LeastSquares, where: str) -> Floats:
    """Return Cook's distance (1977) of each record, shape (n,)."""
    refuse_exact(fit, where, "no record sways the regression")
    full = np.flatnonzero(fit.leverages > 1 - FULL_LEVERAGE)
    if full.size:
        swayed = np.abs(fit.dependence[1:, full]).max(axis=1)
        names = np.array(fit.design.terms)[swayed > 1e-6 * swayed.max()]
        raise NotApplicable(
            f"Single records alone decide the coefficient of {', '.join(names)}{where} "
            "(leverage 1); take it out of the regression."
        )
    scale = len(fit.coefficients) * fit.residual_variance * (1 - fit.leverages) ** 2
    return fit.residuals**2 * fit.leverages / scale


def compute_cooks_distance(comparison: Comparison) -> Reading[RecordValues]:
    """Return the largest Cook's distance of the release."""
    before_fit, after_fit = fits(comparison)
    question = before_fit.design.question
    before = comparison.cached_for_original(("cook", question), lambda: _cooks(before_fit, ""))
    after = _cooks(after_fit, RELEASED)
    return largest_of_both(
        (before_fit.design.records, before),
        (after_fit.design.records, after),
        response=question.response,
        names=list(question.predictors),
    )


def cooks_distance_sentence(reading: Reading, n: int) -> str:
    """Say how far one record influences the regression."""
    return (
        f"The record that sways the regression most has a Cook's distance of {reading.value:.3g} "
        f"(original: {reading.baseline or 0:.3g}); a large one stands out."
    )


COOKS_DISTANCE = Measure(
    key="cooks_distance",
    title="Cook's distance",
    bounds=FROM_ZERO,
    unit="largest distance",
    question="Does a single record still stand out by its sway over the regression?",
    sentence=cooks_distance_sentence,
    source="Cook 1977; Perry, Matloff, Tendick 2022, section 8",
    compute=compute_cooks_distance,
    reads_some=True,
    view=View(
        charts=("cooks_distance",),
        bands={"max_released": FROM_ZERO},
        places={"report": 13, "tune": 6},
    ),
)


# Mahalanobis distance of single records from the mean of their file

NO_VARIANCE = 1e-10  # share of the largest variance below which a direction counts as flat


def mahalanobis_distances(values: Floats) -> tuple[Floats, int]:
    """Return the distance of each record from the mean, shape (n,), and the covariance's rank."""
    # The squares sum to rank * (n - 1); a singular covariance has its pseudo-inverse.
    different = varies(values)
    if not different.any():
        return np.zeros(len(values)), 0
    # D does not change with the columns' units, not even for a singular covariance: all
    # records lie in its range, where every generalized inverse agrees
    scaled = standardized(values[:, different])
    variances, directions = np.linalg.eigh(scaled.T @ scaled / (len(scaled) - 1))
    varied = variances > NO_VARIANCE * variances[-1]
    along = scaled @ directions[:, varied]
    return np.sqrt((along**2 / variances[varied]).sum(axis=1)), int(varied.sum())


def _mahalanobis_distances(
    original: Microdata, table: Microdata, where: str
) -> tuple[tuple[Integers, Floats], int]:
    values = matrix(original, table, original.numeric_names)
    records = complete(values)
    if len(records) < 2:
        raise NotApplicable(
            f"The {where} has {len(records)} records without a missing number; the distance from "
            "the mean needs at least 2."
        )
    distances, rank = mahalanobis_distances(values[records])
    return (records, distances), rank


def compute_mahalanobis(comparison: Comparison) -> Reading[RecordValues]:
    """Return the largest Mahalanobis distance of the release."""
    original = comparison.original
    names = original.numeric_names
    if not names:
        raise NotApplicable("The table has no continuous or count variable.")
    before, rank = comparison.cached_for_original(
        "mahalanobis", lambda: _mahalanobis_distances(original, original, "original")
    )
    after, rank_released = _mahalanobis_distances(original, comparison.masked, "released table")
    return largest_of_both(before, after, names=list(names), rank=Sides(rank, rank_released))


def mahalanobis_sentence(reading: Reading, n: int) -> str:
    """Say how far the most distant record lies from the mean."""
    return (
        f"The record farthest from the middle lies {reading.value:.3g} away (original: "
        f"{reading.baseline or 0:.3g}); who is known to be extreme is looked for there."
    )


MAHALANOBIS = Measure(
    key="mahalanobis",
    title="Mahalanobis distance",
    bounds=FROM_ZERO,
    unit="largest distance",
    question="Does a single record still stand out by its distance from the middle?",
    sentence=mahalanobis_sentence,
    source="Mahalanobis 1936; Perry, Matloff, Tendick 2022, section 8",
    compute=compute_mahalanobis,
    reads_some=True,
    view=View(
        charts=("mahalanobis",), bands={"max_released": FROM_ZERO}, places={"report": 14, "tune": 7}
    ),
)
