"""Contingency tables: change of cross tables of two and three variables."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, require_values
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.cross_table import Grouping, counts, grouping
from rwn_core.measures.statistics.distributions import total_variation

MOST_IN_THREES = 14  # variables; more would make too many three-way tables


def compute(comparison: Comparison) -> Reading:
    """Return the mean total variation distance of all two-way tables."""
    original = comparison.original
    require_values(comparison.masked)
    released = original.schema.released
    if len(released) < 2:
        raise NotApplicable("A cross-tabulation needs at least two variables.")
    groups = comparison.cached_for_original(
        "groups", lambda: [grouping(original, variable) for variable in released]
    )
    before = comparison.cached_for_original(
        "grouped", lambda: [g.codes(original, original) for g in groups]
    )
    after = [g.codes(original, comparison.masked) for g in groups]
    two = _distances(groups, before, after, len(groups), 2)
    three = _distances(groups, before, after, min(len(groups), MOST_IN_THREES), 3)
    names = [g.name for g in groups]
    detail = {
        "names": names,
        "pairs": [[names[i] for i in positions] for positions in two],
        "distance": np.array(list(two.values())),
        "triples": [[names[i] for i in positions] for positions in three],
        "distance_three": np.array(list(three.values())),
        "mean_three": float(np.mean(list(three.values()))) if three else None,
        "variables_in_threes": min(len(groups), MOST_IN_THREES),
    }
    return Reading(value=float(np.mean(list(two.values()))), baseline=0.0, detail=detail)


def _distances(
    groups: list[Grouping], before: list[Integers], after: list[Integers], variables: int, ways: int
) -> dict[tuple[int, ...], float]:
    result = {}
    for positions in combinations(range(variables), ways):
        sizes = [len(groups[i].labels) for i in positions]
        one, other = (counts([codes[i] for i in positions], sizes) for codes in (before, after))
        result[positions] = total_variation(one, other)
    return result


MEASURE = Measure(
    key="contingency",
    title="Contingency tables",
    side="utility",
    unit="mean total variation of two-way tables",
    question="Do cross-tabulations of two and three variables keep their cells?",
    source="total variation distance; numbers in fifths of the original's records",
    compute=compute,
    view=View(on={"report": 99}),
)
