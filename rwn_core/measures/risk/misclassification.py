"""Misclassified keys: released rows that still carry a person's own key values."""

from __future__ import annotations

import numpy as np

from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import cell_codes, class_sizes, key_names
from rwn_core.measures.statistics.nearest_points import spread_sample


def compute(comparison: Comparison) -> Reading:
    """Return the mean of M_jj / F~_j: P(a row with a person's key is that person's)."""
    law = comparison.required_law()
    keys = key_names(comparison)
    rows = spread_sample(np.arange(law.original.n))
    belief = posteriors(law, law.original, rows, keys)
    risk = np.asarray(belief[rows, np.arange(len(rows))]).ravel()
    before, _ = cell_codes(comparison, keys)
    detail = {
        "names": list(keys),
        "risk": risk,
        "records": rows,
        "sampled": len(rows) < law.original.n,
        "of": law.original.n,
    }
    baseline = float((1.0 / class_sizes(before)).mean())
    return Reading(value=float(np.clip(risk, 0, 1).mean()), baseline=baseline, detail=detail)


MEASURE = Measure(
    key="misclassification",
    title="Rows with a person's own key",
    side="risk",
    unit="mean probability",
    question="If a released row has exactly a person's key values, how likely is it that person's "
    "row?",
    sentence=filled(
        "A row that has exactly a person's key values is that person's with probability {share} "
        "on average, against {base} unmasked."
    ),
    source="Shlomo and Skinner 2010: M_jj / F~_j with each record's own law in place of M",
    compute=compute,
)
