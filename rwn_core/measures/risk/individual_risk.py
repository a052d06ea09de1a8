"""Individual risk: expected re-identifications by the key variables of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.comparison import Comparison
from rwn_core.key_variables import cell_codes, class_sizes, key_names
from rwn_core.population import individual_risk
from rwn_core.reading import Measure, Reading


def compute(comparison: Comparison, population: float | None = None) -> Reading:
    """Mean individual risk of the released records.

    Parameters
    ----------
    comparison : Comparison
    population : float, optional
        How many people the file is a sample of; all records weigh alike. Left out, the file is
        the population, which gives the largest risk.
    """
    keys = key_names(comparison)
    risks = []
    for cells in cell_codes(comparison, keys):
        sizes = class_sizes(cells)
        weight = 1.0 if population is None else max(population / len(sizes), 1.0)
        risks.append(individual_risk(sizes, (sizes * weight).astype(np.float64)))
    before, after = risks
    detail: dict[str, Any] = {
        "names": list(keys),
        "original": before,
        "released": after,
        "population": population,
        "expected_original": float(before.sum()),
        "expected_released": float(after.sum()),
        "largest_original": float(before.max()),
        "largest_released": float(after.max()),
        "worst": np.argsort(-after, kind="stable")[:10],
    }
    return Reading(value=float(after.mean()), baseline=float(before.mean()), detail=detail)


MEASURE = Measure(
    key="individual_risk",
    title="Expected re-identifications",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many records does an intruder expect to identify who finds people by their key "
    "values in the release and takes these for true?",
    source="Benedetti and Franconi 1998; with the file as the population it is 1 / (class size)",
    compute=compute,
)
