"""Hellinger distance of each variable's table of counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.variable import Kind, Variable
from rwn_core.measures.comparison import RELEASED, Comparison, numbers
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.distributions import (
    bin_counts,
    bin_edges,
    hellinger,
    level_counts,
    refuse_all_missing,
    total_variation,
)


def _bins(comparison: Comparison, name: str) -> tuple[Integers, Integers]:
    tables = (comparison.original, comparison.masked)
    before, after = (np.sort(numbers(comparison.original, table, name)) for table in tables)
    before, after = (values[~np.isnan(values)] for values in (before, after))
    if not len(before) or not len(after):
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    edges = bin_edges(before)
    counted = []
    for values in (before, after):
        outside = [(values < edges[0]).sum(), (values > edges[-1]).sum()]
        counted.append(np.append(bin_counts(values, edges), outside))
    return counted[0], counted[1]


def _distances(comparison: Comparison, variable: Variable) -> dict[str, Any]:
    if variable.kind in (Kind.CATEGORICAL, Kind.ORDERED):
        _, before, after = level_counts(comparison, variable.name)
    else:
        before, after = _bins(comparison, variable.name)
    for counts, where in ((before, ""), (after, RELEASED)):
        refuse_all_missing(int(counts.sum()), variable.name, where)
    return {"hellinger": hellinger(before, after), "total": total_variation(before, after)}


def compute(comparison: Comparison) -> Reading:
    """Return the mean Hellinger distance over the variables."""
    released = comparison.original.schema.released
    each_variable = [_distances(comparison, variable) for variable in released]
    distances = np.array([one["hellinger"] for one in each_variable])
    detail = {
        "names": [variable.name for variable in released],
        "hellinger": distances,
        "total_variation": np.array([one["total"] for one in each_variable]),
    }
    return Reading(value=float(distances.mean()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="hellinger",
    title="Hellinger distance",
    side="utility",
    unit="mean over variables",
    question="Does each variable keep its table of counts, the rare cells too?",
    source="Hellinger 1909; Gomatam, Karr, Sanil 2005",
    compute=compute,
    view=View(on={"report": 99}),
)
