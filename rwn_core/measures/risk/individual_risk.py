"""Individual risk: expected re-identifications by the key variables of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.key_variables import (
    class_sizes,
    class_totals,
    classes,
    key_cells,
    key_names,
)
from rwn_core.measures.statistics.population import (
    PitmanLaw,
    fitted_risk,
    individual_risk,
    pitman_law,
)

WORTH = (
    "In simulated populations the truth was 0.3 to 1.2 times this estimate, and 0.6 to 12 times "
    "that of Benedetti and Franconi."
)


def compute(comparison: Comparison) -> Reading:
    """Return the mean individual risk of the released records under the comparison's sampling."""
    keys, sampling = key_names(comparison), comparison.sampling
    risks, older, counts = [], [], []
    tables = (comparison.original, comparison.masked)
    leaving = released_rows(comparison.original, comparison.masked)
    rows = (np.arange(comparison.original.n), leaving)
    for table, cells, some in zip(tables, key_cells(comparison, keys), rows, strict=True):
        weights, risk = sampling.record_weights(comparison.original, table), np.zeros(table.n)
        sizes, totals = class_sizes(cells[some]), class_totals(cells[some], weights[some])
        law = PitmanLaw(1.0, 1.0)  # a file that is the population leaves no person unseen
        if weights.sum() > len(weights):
            law = pitman_law(np.sort(np.bincount(classes(cells[some]))))
        risk[some] = fitted_risk(sizes, totals, law)
        risks.append(risk)
        older.append(float(individual_risk(sizes, totals).sum()))
        counts.append(float(weights.sum()))
    before, after = risks
    detail: dict[str, Any] = {
        "names": list(keys),
        "original": before,
        "released": after,
        "population": counts[0],
        "sample": counts[0] > comparison.original.n,
        "older_original": older[0],
        "older_released": older[1],
        "caveat": WORTH if counts[0] > comparison.original.n else "",
        "weights": sampling.weights,
        "expected_original": float(before.sum()),
        "expected_released": float(after.sum()),
        "largest_original": float(before.max()),
        "largest_released": float(after.max()),
        "worst": np.argsort(-after, kind="stable")[:10],
    }
    return Reading(value=float(after[leaving].mean()), baseline=float(before.mean()), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many matches are correct, by which model, and the precision of the estimate."""
    detail, right = reading.detail, people(reading.value, n)
    who = "An intruder who takes released keys for true is right about"
    if not detail["sample"]:
        return f"{who} {right}, if the file is the whole population: one in each class."
    return (
        f"{who} {right} by a model of the population (Pitman); by another (Benedetti and "
        f"Franconi) about {detail['older_released']:,.0f}. {detail['caveat']}"
    )


MEASURE = Measure(
    key="individual_risk",
    title="Expected re-identifications",
    side="risk",
    unit="share of records",
    question="About how many records does an intruder identify who finds people by their key "
    "values in the release and takes these for true?",
    sentence=sentence,
    source="E(1 / F | f) of Pitman's sampling formula (Pitman 1995, Hoshino 2001) and that of "
    "Benedetti and Franconi 1998; with the file as the population it is 1 / (class size)",
    compute=compute,
    of_released=True,
    view=View(
        charts=("key_classes",),
        label="expected re-identified",
        recorded=("expected_original", "expected_released"),
        on={"report": 20},
    ),
)
