"""Wasserstein distance of each numeric variable."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading
from rwn_core.measures.statistics.distributions import varying_numbers, wasserstein


def compute(comparison: Comparison) -> Reading:
    """Return the mean Wasserstein distance of the numeric variables, in standard deviations."""
    names, distances = [], []
    for name, before, after, spread in varying_numbers(comparison):
        names.append(name)
        middle = before.min()
        distances.append(wasserstein((before - middle) / spread, (after - middle) / spread))
    if not names:
        raise NotApplicable("No continuous or count variable varies, so no distance has a unit.")
    detail = {"names": names, "distance": np.array(distances)}
    return Reading(value=float(np.mean(distances)), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="wasserstein",
    title="Wasserstein distance",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard deviations (mean over variables)",
    question="How far did each numeric variable move as a whole?",
    source="Wasserstein distance of order 1",
    compute=compute,
)
