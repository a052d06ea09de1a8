"""Repeated releases: what an intruder gains when the same table is released again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.repeated_releases import (
    LARGEST_PAIRS,
    bhattacharyya,
    bounds_of_records,
)
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.bounded_mean import mean_interval
from rwn_core.measures.statistics.key_variables import key_names

TIMES = (1, 2, 3, 5, 10)
LEAST = 50  # records of a sample
_SEED = 20220615  # of the sample: fixed, so that a number changes only with the setting
_SHOWN = TIMES.index(3)


def compute(comparison: Comparison) -> Reading:
    """Lower bound on the worst-case success by the keys after three releases."""
    if comparison.law is None:
        raise NotApplicable("The bound needs the law of the method that made the release.")
    keys, n = key_names(comparison), comparison.original.n
    records = _records(n)
    alike = bhattacharyya(comparison.law, keys, records)
    bounds = np.clip(bounds_of_records(alike, TIMES, records), 0.0, 1.0)
    mean = bounds.mean(axis=1)
    value = float(mean[_SHOWN])
    interval = None
    if len(records) < n:
        interval = mean_interval(bounds[_SHOWN], n)
    detail = {
        "names": list(keys),
        "releases": list(TIMES),
        "bound": mean,
        "simulated": None,
        "records": records,
        "sampled": len(records) < n,
        "of": n,
    }
    return Reading(value=value, baseline=1.0 / n, interval=interval, detail=detail)


def _records(n: int) -> NDArray[np.int64]:
    """All records, or a random sample of as many as can be compared with all others."""
    most = LARGEST_PAIRS // n
    if most >= n:
        return np.arange(n)
    if most < LEAST:
        raise NotApplicable(
            f"At least {LEAST} records are compared with all others, at most {LARGEST_PAIRS:,} "
            f"pairs; the table has {n:,} records."
        )
    return np.sort(np.random.default_rng(_SEED).choice(n, most, replace=False)).astype(np.int64)


MEASURE = Measure(
    key="repeated_releases",
    title="Three releases",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records, at least",
    question="How many records would the worst-case intruder link at least, by the key variables, "
    "if this table were released three times at this setting?",
    sentence=filled("Three releases of this table would give away at least {people} by the keys."),
    source="Union bound with the Bhattacharyya coefficient of the cell law",
    compute=compute,
)
