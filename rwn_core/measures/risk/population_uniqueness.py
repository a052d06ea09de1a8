"""Population uniqueness: share of sample uniques that are population uniques."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.key_variables import cell_codes, classes, key_names
from rwn_core.measures.statistics.population import (
    decided,
    pitman,
    pitman_range,
    slide_negative_binomial,
    zayatz,
)

WORTH = (
    "In simulated populations the truth was 0 to 1.3 times the estimate by Pitman; where all are "
    "alone, it says nothing."
)
ESTIMATES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "slide negative binomial"}


def compute(comparison: Comparison) -> Reading:
    """Return the estimate that suits the sampling fraction, for the release and the original."""
    original, keys = comparison.original, key_names(comparison)
    population = float(comparison.sampling.record_weights(original, original).sum())
    if population <= original.n * (1 + 1e-9):
        raise NotApplicable(
            "The file is taken for the whole population, where unique is unique; give the size of "
            "the population or sampling weights."
        )
    detail: dict[str, Any] = {"names": list(keys), "population": population}
    values: list[float] = []
    before, after = cell_codes(comparison, keys)
    leaving = released_rows(original, comparison.masked)
    for side, cells in (("original", before), ("released", after[leaving])):
        sizes = np.sort(np.bincount(classes(cells)))
        found = {
            "pitman": pitman(sizes, population),
            "zayatz": zayatz(sizes, population),
            "snb": slide_negative_binomial(sizes, population),
        }
        chosen = decided(found, len(cells) / population)
        detail |= {side: found, f"by_{side}": chosen, f"uniques_{side}": int((sizes == 1).sum())}
        values.append(found[chosen] or 0.0)
    interval = None
    if detail["by_released"] == "pitman":
        interval = pitman_range(sizes, population)
    else:
        known = [share for share in detail["released"].values() if share is not None]
        interval = (min(known), max(known))
    detail["caveat"] = WORTH
    return Reading(value=values[1], baseline=values[0], interval=interval, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many sample uniques are population uniques, by each estimate."""
    detail = reading.detail
    low, high = reading.interval or (reading.value, reading.value)
    others = ", ".join(
        f"{ESTIMATES[key]}: {'no answer' if share is None else percent(share)}"
        for key, share in detail["released"].items()
        if key != detail["by_released"]
    )
    return (
        f"Of {detail['uniques_released']:,} released records that are alone with their key values, "
        f"{percent(reading.value)} would be alone among {detail['population']:,.0f} people, by the "
        f"estimate of {ESTIMATES[detail['by_released']]} ({others}); of the original's "
        f"{percent(reading.baseline or 0)}. From {percent(low)} to {percent(high)} would fit the "
        f"release. {detail['caveat']}"
    )


MEASURE = Measure(
    key="population_uniqueness",
    title="Unique in the population",
    side="risk",
    unit="share of the records that are unique on the keys",
    question="How many of the records that are alone with their key values in the file would be "
    "alone with them in the whole population?",
    sentence=sentence,
    source="Hoshino 2001 (Pitman), Zayatz 1991, Chen and Keller-McNulty 1998 (slide negative "
    "binomial), chosen by the rule of Dankar et al. 2012; needs the size of the population or "
    "sampling weights",
    compute=compute,
    of_released=True,
)
