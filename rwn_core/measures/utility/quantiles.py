"""Quantiles of the numeric variables."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, UNBOUNDED, Measure, Reading, View
from rwn_core.measures.statistics.distributions import varying_numbers

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def compute(comparison: Comparison) -> Reading:
    """Return the mean change of seven quantiles per variable, in standard deviations."""
    names, tables, changes = [], [], []
    for name, before, after, spread in varying_numbers(comparison):
        names.append(name)
        pair = [np.quantile(v / spread, SHARES) for v in (before, after)]
        changes.append(pair[1] - pair[0])
        tables.append([spread * quantiles for quantiles in pair])
    if not names:
        raise NotApplicable("No continuous or count variable varies, so no change has a unit.")
    detail = {
        "names": names,
        "shares": list(SHARES),
        "original": np.array([table[0] for table in tables]),
        "released": np.array([table[1] for table in tables]),
        "change": np.array(changes),
    }
    return Reading(value=float(np.abs(changes).mean()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="quantiles",
    title="Quantiles",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard deviations (mean over quantiles)",
    question="Do medians, quartiles and tails stay where they were?",
    source="quantiles at 5, 10, 25, 50, 75, 90 and 95 %",
    compute=compute,
    view=View(charts=("quantiles",), bands={"change": UNBOUNDED}, on={"report": 5}),
)
