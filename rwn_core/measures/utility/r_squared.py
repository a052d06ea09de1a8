"""R squared: change of the share of variance that the steward's regression explains."""

from __future__ import annotations

from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.ols import fits


def compute(comparison: Comparison) -> Reading:
    """Return the absolute change of the regression's R squared."""
    before, after = (fit.r2 for fit in fits(comparison))
    detail = {"original": before, "released": after}
    return Reading(value=abs(after - before), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="r_squared",
    title="R squared",
    side="utility",
    unit="absolute change",
    question="Does the chosen regression explain as much of the response as before?",
    source="Perry, experiments of 2023 with RWN",
    compute=compute,
)
