"""t-closeness: distance of an equivalence class's confidential values from the file's."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.key_variables import confidential_classes


def distances(groups: Integers, secret: Integers, *, ordered: bool) -> Floats:
    """Return the earth mover's distance of each class (Li, Li, Venkatasubramanian 2007)."""
    # `ordered`: steps of 1/(m - 1) between neighboring values; otherwise all are 1 apart.
    width, count = int(secret.max()) + 1, int(groups.max()) + 1
    if width == 1:
        return np.zeros(count)
    cells = np.bincount(groups * width + secret, minlength=count * width).reshape(count, width)
    share = cells / cells.sum(axis=1, keepdims=True)
    difference = share - np.bincount(secret, minlength=width) / len(secret)
    if not ordered:
        return np.asarray(np.abs(difference).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / (width - 1))


def compute(comparison: Comparison) -> Reading:
    """Return the largest distance of a class from the full release; means are in the detail."""
    keys, secrets, tables = confidential_classes(comparison)
    mean, largest = np.empty((2, len(secrets))), np.empty((2, len(secrets)))
    for side, (groups, values) in enumerate(tables):
        for number, name in enumerate(secrets):
            result = _distances(comparison, name, groups, values[:, number])
            mean[side, number], largest[side, number] = result[groups].mean(), result.max()
    detail: dict[str, Any] = {
        "names": list(keys),
        "secrets": list(secrets),
        "mean_original": mean[0],
        "mean_released": mean[1],
        "largest_original": largest[0],
        "largest_released": largest[1],
    }
    return Reading(value=float(largest[1].max()), baseline=float(largest[0].max()), detail=detail)


def _distances(comparison: Comparison, name: str, groups: Integers, codes: Integers) -> Floats:
    # only values that occur have a place; a missing one comes first, as a value of its own
    secret = np.unique(codes, return_inverse=True)[1].ravel().astype(np.int64)
    if (int(secret.max()) + 1) * (int(groups.max()) + 1) > LISTED_PAIRS:
        raise NotApplicable(
            f"There are too many different key combinations and values of {name} to compare; "
            "choose fewer key variables."
        )
    ordered = comparison.original.schema.variable(name).kind is not Kind.CATEGORICAL
    result = distances(groups, secret, ordered=ordered)
    return np.clip(result, 0.0, 1.0)


def sentence(reading: Reading, n: int) -> str:
    """Say how far classes of equal keys deviate from the file."""
    mean = float(np.mean(reading.detail["mean_released"]))
    return (
        f"Confidential values of people with equal keys depart from everybody's by up to "
        f"{reading.value:.2f}, and by {mean:.2f} on average (0 is none, 1 is as far as possible)."
    )


MEASURE = Measure(
    key="t_closeness",
    title="t-closeness",
    side="risk",
    unit="largest earth mover's distance",
    question="How far do the confidential values of people with the same key values depart from "
    "those of everybody?",
    sentence=sentence,
    source="Li, Li, Venkatasubramanian 2007: t of the worst class and confidential variable",
    compute=compute,
    of_released=True,
    view=View(charts=("key_classes",), label="t-closeness, largest", on={"report": 20}),
)
