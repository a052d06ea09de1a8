"""Individual risk: expected re-identifications by the key variables of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.measures.aligned import released_rows
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import (
    class_sizes,
    class_totals,
    key_cells,
    key_names,
)
from rwn_core.measures.statistics.population import individual_risk


def compute(comparison: Comparison) -> Reading:
    """Mean individual risk of the released records, under the comparison's sampling."""
    keys, sampling = key_names(comparison), comparison.sampling
    risks, people = [], []
    tables = (comparison.original, comparison.masked)
    leaving = released_rows(comparison.original, comparison.masked)
    rows = (np.arange(comparison.original.n), leaving)
    for table, cells, some in zip(tables, key_cells(comparison, keys), rows, strict=True):
        weights, risk = sampling.of(comparison.original, table), np.zeros(table.n)
        sizes, totals = class_sizes(cells[some]), class_totals(cells[some], weights[some])
        risk[some] = individual_risk(sizes, totals)
        risks.append(risk)
        people.append(float(weights.sum()))
    before, after = risks
    detail: dict[str, Any] = {
        "names": list(keys),
        "original": before,
        "released": after,
        "population": people[0],
        "weights": sampling.weights,
        "expected_original": float(before.sum()),
        "expected_released": float(after.sum()),
        "largest_original": float(before.max()),
        "largest_released": float(after.max()),
        "worst": np.argsort(-after, kind="stable")[:10],
    }
    return Reading(value=float(after[leaving].mean()), baseline=float(before.mean()), detail=detail)


MEASURE = Measure(
    key="individual_risk",
    title="Expected re-identifications",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many records does an intruder expect to identify who finds people by their key "
    "values in the release and takes these for true?",
    sentence=filled("Who takes released keys for true expects to identify {people}."),
    source="Benedetti and Franconi 1998; with the file as the population it is 1 / (class size)",
    compute=compute,
    of_released=True,
)
