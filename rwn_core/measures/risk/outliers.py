"""Outlying records: influence on a regression, and distance from the center."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import (
    RELEASED,
    Comparison,
    complete,
    empty_records,
    matrix,
    standardized,
    varies,
)
from rwn_core.measures.measure import FROM_ZERO, BothFiles, Measure, Reading, Sides, View
from rwn_core.measures.statistics.nearest_points import (
    nearest_others,
    original_points,
    released_points,
    spread_sample,
)
from rwn_core.measures.statistics.ols import LeastSquares, fits, refuse_exact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordValues(BothFiles):
    """A number of each record of both files, shape (m,) each; the largest may be drawn.

    Attributes
    ----------
    records_original, records_released : ndarray of int64, shape (m,)
        Of `of` records, a sample where `sampled`; those without a number are left out.
    max_original, max_released : float
        The largest number of each file, where it is asked for.
    argmax_original, argmax_released : int, optional
        The record that has it.
    response : str
        Of the regression in which records are compared; `names` are its predictors.
    rank : Sides of int
        Of the covariance of `names`, where the number is a distance by it.
    """

    records_original: Integers
    records_released: Integers
    max_original: float = 0.0
    max_released: float = 0.0
    argmax_original: Any = None
    argmax_released: Any = None
    response: str = ""
    rank: Sides[int] | None = None
    sampled: bool = False
    of: int = 0


def largest_of_both(
    before: tuple[Integers, Floats], after: tuple[Integers, Floats], **about: Any
) -> Reading[RecordValues]:
    """Return the reading of the largest number of a released record; baseline: an original's."""
    # before and after are record numbers, and one number for each
    (records, own), (records_released, released) = before, after
    detail = RecordValues(
        **about,
        original=own,
        released=released,
        records_original=records,
        records_released=records_released,
        max_original=float(own.max()),
        argmax_original=int(records[own.argmax()]),
        max_released=float(released.max()),
        argmax_released=int(records_released[released.argmax()]),
    )
    return Reading(value=detail.max_released, baseline=detail.max_original, detail=detail)


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


# Nearest distance: isolation of records before and after


def compute_nearest_distance(comparison: Comparison) -> Reading[RecordValues]:
    """Return the median distance from a released record to the nearest other one."""
    points = original_points(comparison)
    rows = spread_sample(np.arange(len(points)))
    before = comparison.cached_for_original("nearest others", lambda: nearest_others(points, rows))
    present = np.flatnonzero(~empty_records(comparison.masked))
    if len(present) < 2:
        raise NotApplicable("The released table has fewer than two records with any value.")
    sample = spread_sample(np.arange(len(present)))
    after = nearest_others(released_points(comparison)[present], sample)
    detail = RecordValues(
        original=before,
        released=after,
        records_original=rows,
        records_released=present[sample],
        sampled=len(sample) < len(present) or len(rows) < len(points),
        of=len(points),
    )
    return Reading(value=float(np.median(after)), baseline=float(np.median(before)), detail=detail)


def nearest_distance_sentence(reading: Reading, n: int) -> str:
    """Say how isolated a typical released record is."""
    return (
        f"A typical released record is {reading.value:.2f} standard deviations from the nearest "
        f"other one, against {reading.baseline or 0:.2f} in the original: far from all others is "
        "easy to find. It assumes somebody who has nothing but the release, neither other data nor "
        "the method."
    )


NEAREST_DISTANCE = Measure(
    key="nearest_distance",
    title="Nearest distance",
    better="neutral",
    bounds=FROM_ZERO,
    unit="standard deviations of the original (median)",
    question="How far is a record from the nearest other record of the same file?",
    sentence=nearest_distance_sentence,
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute_nearest_distance,
    view=View(charts=("nearest_distance",), bands={"value": FROM_ZERO}, places={"tune": 2}),
)
