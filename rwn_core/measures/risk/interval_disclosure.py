"""Interval disclosure: released values close to the record's own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, complete, matrix, released_rows, varies
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.distributions import standard_deviation

WIDTH = 0.05  # standard deviations
ROBUST = 0.01 * WIDTH  # of the robust distance, half the width of an interval: k 0.05 in sdcMicro
NEAR = 0.05  # distance below which another released record hides one


def inside(before: Floats, after: Floats, width: float = WIDTH) -> Booleans:
    """Return True if all values lie within `width` standard deviations of the own, shape (n,)."""
    with np.errstate(invalid="ignore"):
        spreads = [standard_deviation(column[~np.isnan(column)]) for column in before.T]
        half_width = width * np.array(spreads)
        near = np.abs(before - after) <= half_width
    near |= np.isnan(before) & np.isnan(after)
    return np.asarray(near.all(axis=1))


def rank_shares(before: Floats, after: Floats) -> Floats:
    """Return the share of records with all ranks within p percent of their own, p = 1..10."""
    from scipy.stats import rankdata

    largest = np.abs(rankdata(before, axis=0) - rankdata(after, axis=0)).max(axis=1)
    return np.array([(largest <= p / 100 * len(largest)).mean() for p in range(1, 11)])


def robust_distances(values: Floats) -> Floats:
    """Return squared robust Mahalanobis distances (MCD), shape (n,)."""
    # Raises NotApplicable for too few records or a singular covariance.
    from sklearn.covariance import MinCovDet

    n, m = values.shape
    if n < 4 * m + 2:
        raise NotApplicable(f"Robust distances of {m} variables need more records than {n:,}.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            squared = MinCovDet(random_state=0).fit(values).mahalanobis(values)
        except (RuntimeWarning, UserWarning, ValueError, np.linalg.LinAlgError):
            raise NotApplicable(
                "The robust covariance is singular: some variables determine others exactly."
            ) from None
    return np.asarray(squared)


def robust_shares(before: Floats, after: Floats, distances: Floats) -> tuple[float, float]:
    """Return RMDID1 and RMDID2 of Templ and Meindl (2008): a value inside, and not hidden."""
    # Half-width 0.01 x 0.05 rmd around the released value. Both files are scaled by the original,
    # so an unchanged value is always inside; sdcMicro's dRiskRMD scales each by its own mean and
    # flags 4 % of bodyfat at epsilon 2, k 5, q 1, where 34 % show an unchanged value.
    from scipy.spatial import cKDTree

    half_width = ROBUST * np.sqrt(np.maximum(distances, 0.0))[:, None]
    close = (np.abs(before - after) <= half_width).any(axis=1)
    tree = cKDTree(after, balanced_tree=False)
    around = tree.query_ball_point(after[close], NEAR, return_length=True)
    return float(close.mean()), float((np.asarray(around) <= 1).sum() / len(before))


def _robust(
    comparison: Comparison, rows: Integers, before: Floats, after: Floats
) -> dict[str, Any]:
    if len(before) > LIVE_RECORDS:
        return {
            "robust": None,
            "robust_reason": f"Robust intervals are computed for at most {LIVE_RECORDS:,} records.",
        }
    # numbers of any size: the largest first, since squares of huge or tiny ones would be lost
    size = np.abs(before).max(axis=0)
    before, after = before / size, np.clip(after / size, -1e100, 1e100)
    center, spread = before.mean(axis=0), before.std(axis=0, ddof=1)
    before, after = (before - center) / spread, (after - center) / spread
    try:
        distances = comparison.cached_for_original(
            ("robust distances", rows.tobytes()), lambda: robust_distances(before)
        )
    except NotApplicable as refusal:
        return {"robust": None, "robust_reason": refusal.reason}
    return {"robust": list(robust_shares(before, after, distances)), "robust_reason": ""}


def compute(comparison: Comparison) -> Reading:
    """Return the share of records with all numeric values within 0.05 standard deviations."""
    original, masked = comparison.original, comparison.masked
    names = list(original.numeric_names)
    if not names or masked.n != original.n:
        raise NotApplicable(
            "Intervals need numeric variables and a release with a row for each original."
        )
    before, after = matrix(original, original, names), matrix(original, masked, names)
    rows = complete(np.hstack((before, after)))
    detail: dict[str, Any] = {"names": names, "near": inside(before, after), "of": original.n}
    leaving = released_rows(original, masked)
    detail |= {"ranks": None, "robust": None, "robust_reason": "No complete records."}
    varying = varies(before[rows]) if rows.size > 1 else np.zeros(len(names), dtype=bool)
    if varying.any():
        numbers = [table[rows][:, varying] for table in (before, after)]
        detail["ranks"] = rank_shares(*numbers)
        detail |= _robust(comparison, rows, *numbers)
    return Reading(
        value=float(detail["near"][leaving].mean()),
        baseline=1.0,
        detail=detail,
    )


MEASURE = Measure(
    key="interval_disclosure",
    title="Interval disclosure",
    side="risk",
    unit="share of records",
    question="For how many records does every released number lie within 0.05 standard deviations "
    "of the person's own?",
    sentence=filled(
        "For {people} every number lies within 0.05 standard deviations of the person's own."
    ),
    source="SDID of sdcMicro's dRisk, with the original's standard deviation; Templ and Meindl "
    "2008 for the robust intervals",
    compute=compute,
    of_released=True,
)
