"""Mahalanobis distance of single records from the mean of their file."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, complete, matrix, standardized, varies
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View, largest_of_both

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


def _distances(
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


def compute(comparison: Comparison) -> Reading:
    """Return the largest Mahalanobis distance of the release."""
    original = comparison.original
    names = original.numeric_names
    if not names:
        raise NotApplicable("The table has no continuous or count variable.")
    before, rank = comparison.cached_for_original(
        "mahalanobis", lambda: _distances(original, original, "original")
    )
    after, rank_released = _distances(original, comparison.masked, "released table")
    ranks = {"original": rank, "released": rank_released, "of": len(names)}
    return largest_of_both(before, after, names=list(names), rank=ranks)


def sentence(reading: Reading, n: int) -> str:
    """Say how far the most distant record lies from the mean."""
    return (
        f"The record farthest from the middle lies {reading.value:.3g} away (original: "
        f"{reading.baseline or 0:.3g}); who is known to be extreme is looked for there."
    )


MEASURE = Measure(
    key="mahalanobis",
    title="Mahalanobis distance",
    side="risk",
    bounds=FROM_ZERO,
    unit="largest distance",
    question="Does a single record still stand out by its distance from the middle?",
    sentence=sentence,
    source="Mahalanobis 1936; Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
    reads_some=True,
    view=View(
        charts=("mahalanobis",), bands={"max_released": FROM_ZERO}, on={"report": 14, "tune": 7}
    ),
)
