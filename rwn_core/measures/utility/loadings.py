"""Loadings: change of the directions of the first principal components."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.association import numbers_of_both, shared_correlations

COMPONENTS = 5  # as many as the paper reports


def directions(values: Floats) -> tuple[Floats, Floats]:
    """Return descending variances (m,) and unit loadings (m, m), one column a component."""
    variances, loadings = np.linalg.eigh(shared_correlations(values))
    return variances[::-1].copy(), loadings[:, ::-1].copy()


def loading_changes(before: Floats, after: Floats) -> Floats:
    """Return the mean absolute change of each column, whichever sign of it is nearer."""
    same, turned = np.abs(after - before).mean(axis=0), np.abs(after + before).mean(axis=0)
    return np.asarray(np.minimum(same, turned), dtype=np.float64)


def near_neighbors(variances: Floats, n: int, first: int) -> int:
    """Count first components within a standard error, lambda sqrt(2 / n), of the next variance."""
    # North and others 1982: such components may turn into each other from sample to sample
    gap, error = -np.diff(variances), variances[:-1] * np.sqrt(2 / n)
    return int((gap < error)[:first].sum())


def compute(comparison: Comparison) -> Reading:
    """Return the mean absolute change of a loading on the first five components."""
    names, own, released = numbers_of_both(comparison, "loadings")
    variances, before = comparison.cached_for_original(("loadings", names), lambda: directions(own))
    _, after = directions(released)
    first = min(COMPONENTS, len(names))
    changes = loading_changes(before[:, :first], after[:, :first])
    near = near_neighbors(variances, len(own), first)
    detail: dict[str, Any] = {
        "names": list(names),
        "original": before[:, :first],
        "released": after[:, :first],
        "change": changes,
        "near_neighbors": near,
    }
    if near:
        detail["caveat"] = (
            f"{near} of the first {first} components of the original have nearly the variance of "
            "the next, so they may turn into each other without a loss of any relation."
        )
    return Reading(value=float(changes.mean()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="loadings",
    title="Loadings",
    side="utility",
    unit="mean absolute change of a loading",
    question="Do the variables weigh as before on the first five principal components?",
    source="Perry, experiments of 2023 with RWN: components in order of their variance, each with "
    "the nearer sign; neighbors by North and others 1982",
    compute=compute,
)
