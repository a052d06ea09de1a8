"""Repeated releases: what an intruder gains when the same table is released again."""

from __future__ import annotations

import numpy as np

from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.intruder.repeated import bhattacharyya, success_bounds
from rwn_core.key_variables import key_names
from rwn_core.reading import Measure, Reading

TIMES = (1, 2, 3, 5, 10)
_SHOWN = TIMES.index(3)


def compute(comparison: Comparison) -> Reading:
    """Lower bound on the worst-case success by the keys after three releases."""
    if comparison.law is None:
        raise NotApplicable("The bound needs the law of the method that made the release.")
    keys = key_names(comparison)
    bounds = success_bounds(bhattacharyya(comparison.law, keys), TIMES)
    detail = {
        "names": list(keys),
        "releases": list(TIMES),
        "bound": bounds,
        "simulated": None,
    }
    n = comparison.original.n
    return Reading(value=float(np.clip(bounds[_SHOWN], 0, 1)), baseline=1.0 / n, detail=detail)


MEASURE = Measure(
    key="repeated_releases",
    title="Three releases",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records, at least",
    question="How many records would the worst-case intruder link at least, by the key variables, "
    "if this table were released three times at this setting?",
    source="Union bound with the Bhattacharyya coefficient of the cell law",
    compute=compute,
)
