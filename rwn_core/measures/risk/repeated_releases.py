"""Repeated releases: success of an intruder with several releases of one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import canonical_order
from rwn_core.measures.attacks.repeated_releases import (
    LARGEST_PAIRS,
    bhattacharyya,
    bounds_of_records,
    joint_success_after,
    simulate,
    success_of_rows,
)
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.bounded_mean import mean_interval
from rwn_core.measures.statistics.key_variables import cell_codes, key_names

TIMES = (1, 2, 3, 5, 10)  # of a bound
DRAWN = 5  # releases that are drawn and linked, by the law alone
LEAST = 50  # records of a sample
_SEED = 20220615  # of draws and samples: fixed, so that a number changes only with the setting
_SHOWN = 3


def compute(comparison: Comparison) -> Reading:
    """Return the success by the keys after three releases with their rows in the same order."""
    law = comparison.law
    if law is None:
        raise NotApplicable("Further releases need the law of the method that made this one.")
    keys, n = key_names(comparison), comparison.original.n
    records = _records(n)
    if law.neighborhoods is None:
        alike = bhattacharyya(law, keys, records)
        bounds = np.clip(bounds_of_records(alike, TIMES, records), 0.0, 1.0)
        interval = mean_interval(bounds[TIMES.index(_SHOWN)], n) if len(records) < n else None
        return _reading(keys, TIMES, bounds.mean(axis=1), "at least", (records, n), interval)
    times, generator = tuple(range(1, DRAWN + 1)), np.random.default_rng(_SEED)
    if len(records) == n:
        released = [variable.name for variable in law.original.schema.released]
        itself = Comparison(original=law.original, masked=law.original)
        order = canonical_order(cell_codes(itself, released)[0])
        releases = [simulate(law, generator, order) for _ in times]
        together = joint_success_after(law, releases, keys)
        if None not in together:
            linked = np.array(together, dtype=np.float64)
            return _reading(keys, times, linked, "worst", (records, n))
    else:
        releases = [simulate(law, generator) for _ in times]
    rows = success_of_rows(law, releases, keys, records)
    interval = mean_interval(rows[_SHOWN - 1], n) if len(records) < n else None
    return _reading(keys, times, rows.mean(axis=1), "at least", (records, n), interval)


def _reading(
    keys: Sequence[str],
    times: tuple[int, ...],
    linked: NDArray[np.float64],
    standing: str,
    some: tuple[NDArray[np.int64], int],
    interval: tuple[float, float] | None = None,
) -> Reading:
    """Return the reading; its standing says if these are lower bounds only."""
    (records, n), times_ = some, list(times)
    linked = np.maximum.accumulate(linked)  # who has more releases can leave one aside
    detail = {
        "names": list(keys),
        "releases": times_,
        "same_order": linked,
        "shuffled": float(linked[0]),
        "standing": standing,
        "records": records,
        "sampled": len(records) < n,
        "of": n,
    }
    value = float(linked[times_.index(_SHOWN)])
    return Reading(value=value, baseline=1.0 / n, interval=interval, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records three releases link, in the same row order and in fresh ones."""
    detail = reading.detail
    least = "at least " if detail["standing"] == "at least" else ""
    return (
        f"Three releases of this table link {least}{people(reading.value, n)} by the keys if rows "
        f"keep their places; in fresh secret order at least {people(detail['shuffled'], n)}."
    )


def _records(n: int) -> NDArray[np.int64]:
    """Return all records, or a random sample that can be compared with all others."""
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
    unit="share of records",
    question="How many records would the worst-case intruder link by the key variables, if this "
    "table were released three times at this setting and its rows kept their places?",
    sentence=sentence,
    at_least="Three releases, at least",
    source="Bayes' rule on the product of the cell law over releases; where none can be drawn, "
    "the union bound with the Bhattacharyya coefficient",
    compute=compute,
)
