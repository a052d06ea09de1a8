"""Eigenvalues of the correlation matrix, small ones included."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading
from rwn_core.measures.statistics.association import correlation_matrix, varying_columns

SINGULAR = 1e-10  # smallest over largest eigenvalue at which a direction is rounding
LOADING = 0.1  # a variable with less is no part of a direction


def compute(comparison: Comparison) -> Reading:
    """Return the sum of relative changes of the correlation matrix's eigenvalues."""
    names, own, released = varying_columns(comparison, "eigenvalues")
    before = comparison.cached_for_original(("eigenvalues", names), lambda: _original(own, names))
    # the routine of the original: two routines differ in the last digit
    after = np.linalg.eigh(correlation_matrix(released))[0][::-1].copy()
    change = (after - before) / before
    detail = {
        "names": list(names),
        "original": before,
        "released": np.maximum(after, 0.0),
        "relative_change": change,
    }
    return Reading(value=float(np.abs(change).sum()), baseline=0.0, detail=detail)


def _original(values: Floats, names: tuple[str, ...]) -> Floats:
    spectrum, directions = np.linalg.eigh(correlation_matrix(values))
    if spectrum[0] > SINGULAR * spectrum[-1]:
        return np.ascontiguousarray(spectrum[::-1])
    loadings = np.abs(directions[:, spectrum <= SINGULAR * spectrum[-1]]).max(axis=1)
    tied = [name for name, loading in zip(names, loadings, strict=True) if loading > LOADING]
    raise NotApplicable(
        f"These variables are collinear in the original, so an eigenvalue is 0 and has no "
        f"relative change: {', '.join(tied)}."
    )


MEASURE = Measure(
    key="eigenvalues",
    title="Eigenvalues",
    side="utility",
    bounds=FROM_ZERO,
    unit="sum of relative changes",
    question="Does the correlation matrix keep its directions, the weak ones too?",
    source="Domingo-Ferrer and Torra 2001; of correlations, as in sdcMicro’s “eigen”",
    compute=compute,
)
