"""l-diversity: distinct confidential values of each equivalence class."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import confidential_classes


def distinct_values(groups: Integers, secret: Integers) -> Integers:
    """Count the distinct values of each class; missing (-1) counts as a value."""
    pairs = np.unique(np.column_stack((groups, secret)), axis=0)
    return np.bincount(pairs[:, 0], minlength=groups.max() + 1)


def entropies(groups: Integers, secret: Integers) -> Floats:
    """Return the entropy of the values of each class in nats (Machanavajjhala et al. 2007)."""
    pairs, counts = np.unique(np.column_stack((groups, secret)), axis=0, return_counts=True)
    share = counts / np.bincount(groups)[pairs[:, 0]]
    result = np.bincount(pairs[:, 0], -share * np.log(share), groups.max() + 1)
    return np.asarray(result + 0.0, dtype=np.float64)


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records in classes with a single confidential value."""
    keys, secrets, tables = confidential_classes(comparison)
    share = np.empty((2, len(secrets)))
    smallest = np.empty((2, len(secrets)), dtype=np.int64)
    entropy = np.empty((2, len(secrets)))
    for side, (groups, values) in enumerate(tables):
        for number, secret in enumerate(values.T):
            result = distinct_values(groups, secret)
            # a class with only missing values discloses nothing
            share[side, number] = ((result[groups] < 2) & (secret >= 0)).mean()
            smallest[side, number] = result.min()
            entropy[side, number] = np.exp(entropies(groups, secret).min())
    detail: dict[str, Any] = {
        "names": list(keys),
        "secrets": list(secrets),
        "share_original": share[0],
        "share_released": share[1],
        "smallest_original": smallest[0],
        "smallest_released": smallest[1],
        "entropy_original": entropy[0],
        "entropy_released": entropy[1],
    }
    return Reading(value=float(share[1].mean()), baseline=float(share[0].mean()), detail=detail)


MEASURE = Measure(
    key="l_diversity",
    title="Below 2-diversity",
    side="risk",
    unit="share of records",
    question="How many records lie in a class of equal key values that holds a single value of a "
    "confidential variable?",
    sentence=filled("For {people} everybody with the same keys has one confidential value."),
    source="Machanavajjhala et al. 2007 (distinct l-diversity); mean over confidential variables",
    compute=compute,
    of_released=True,
    view=View(charts=("key_classes",), label="below 2-diversity", on={"report": 20}),
)
