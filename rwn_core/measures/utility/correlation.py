"""Correlations: how far each pair's linear relation moved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.original_terms import matrix, standardized, varies
from rwn_core.reading import Measure, Reading

ZERO = 1e-12  # a correlation nearer to 0 has no sign but that of rounding
NO_VARIATION = 1e-12  # share of a variance that rounding alone leaves


def correlation_matrix(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson correlations of all pairs of columns.

    Parameters
    ----------
    values : ndarray of float64, shape (n, m)
        NaN where missing; each pair uses the records that have both.

    Returns
    -------
    ndarray of float64, shape (m, m)
        From -1 to 1, symmetric; NaN where one of the pair does not vary.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 8.

    Examples
    --------
    >>> correlation_matrix(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])).round(3).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    known = ~np.isnan(values)
    if not known.all():
        return _pairwise(values, known)
    found = np.full((values.shape[1],) * 2, np.nan)
    (different,) = np.nonzero(varies(values))
    scaled = standardized(values[:, different])
    found[np.ix_(different, different)] = scaled.T @ scaled / (len(values) - 1)
    return np.asarray(np.clip(found, -1.0, 1.0), dtype=np.float64)


def _pairwise(values: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The correlations from cross products over the records that each pair has in common."""
    filled = np.zeros_like(values)
    for column in range(values.shape[1]):
        present = values[known[:, column], column][:, None]
        if varies(present).all():
            filled[known[:, column], column] = standardized(present)[:, 0]
    both = known.astype(np.float64)
    count = np.maximum(both.T @ both, 1.0)
    total = filled.T @ both  # [j, h]: sum of column j over the records where h is known too
    covariance = filled.T @ filled - total * total.T / count
    variance = (filled**2).T @ both - total**2 / count
    defined = np.minimum(variance, variance.T) > NO_VARIATION * len(values)
    scale = np.sqrt(np.where(defined, variance * variance.T, 1.0))
    return np.asarray(np.where(defined, np.clip(covariance / scale, -1.0, 1.0), np.nan))


def sign_changes(before: NDArray[np.float64], after: NDArray[np.float64]) -> int:
    """How many correlations went from one side of 0 to the other; NaN counts as neither."""
    signs = [np.where(np.abs(r) > ZERO, np.sign(r), 0.0) for r in (before, after)]
    return int((signs[0] * signs[1] < 0).sum())


def compute(comparison: Comparison) -> Reading:
    """Mean absolute change of the correlations of all pairs of numeric variables."""
    original = comparison.original
    names = original.numeric_names
    if len(names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    before = comparison.once(
        "correlations", lambda: correlation_matrix(matrix(original, original, names))
    )
    after = correlation_matrix(matrix(original, comparison.masked, names))
    first, second = np.triu_indices(len(names), 1)
    change = np.abs(after - before)[first, second]
    defined = ~np.isnan(change)
    if not defined.any():
        raise NotApplicable("No pair of numeric variables varies in both tables.")
    mean_change = float(change[defined].mean())
    detail = {
        "names": list(names),
        "original": before,
        "released": after,
        "mean_absolute_change": mean_change,
        "sign_changes": sign_changes(before[first, second], after[first, second]),
        "pairs": int(defined.sum()),
    }
    return Reading(value=mean_change, baseline=0.0, detail=detail)


MEASURE = Measure(
    key="correlation",
    title="Correlations",
    side="utility",
    better="lower",
    bounds=(0.0, 2.0),
    unit="mean absolute change",
    question="How far did the correlations of pairs of numeric variables move?",
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
)
