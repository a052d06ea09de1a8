"""Differential privacy: why the method has none, as a number."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.value_survival import appearance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled

WHY_NO_PRIVACY_EPSILON = (
    "Randomization within neighborhoods is not differentially private for any epsilon: a cell can "
    "only take its own value or those of its neighbors, so one person's change can make a "
    "released value impossible that was possible before. The radius epsilon is a distance."
)


def compute(comparison: Comparison) -> Reading:
    """The smallest delta that (epsilon, delta)-differential privacy would have to allow."""
    law = comparison.law
    if law is None:
        raise NotApplicable("This needs the law of the method that made the release.")
    rows = np.arange(law.original.n)
    bounds, names = [], []
    for unit in law.units():
        table, columns = law.likelihood_columns(unit, law.original, rows)
        alone = np.bincount(columns, minlength=table.shape[1]) == 1
        chances = appearance(table)[alone]
        bounds.append(float(np.clip(chances.max(initial=0.0), 0.0, 1.0)))
        names.append(", ".join(unit))
    detail = {"names": names, "delta": bounds, "statement": WHY_NO_PRIVACY_EPSILON}
    return Reading(value=max(bounds), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="differential_privacy",
    title="Distance from differential privacy",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="delta, at least",
    question="How likely is the release to show a value that would be impossible without one "
    "person, so that no epsilon covers it?",
    sentence=filled(
        "No epsilon covers it: with probability {share} the release shows a value that would be "
        "impossible without one person."
    ),
    source="Dwork et al. 2006 (delta); survival of a value that one record alone has",
    compute=compute,
)
