"""Two variables together, before and after: what a picture of their relation draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, matrix
from rwn_core.measures.measure import BothFiles, Reading
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.measures.statistics.cross_table import counts, grouping
from rwn_core.measures.statistics.distributions import total_variation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWay(BothFiles):
    """Two variables of both files: their points of shape (n, 2), or their tables of counts.

    Attributes
    ----------
    kind : {"points", "table"}
    correlation_original, correlation_released : float, optional
        Of points; None where one of them does not vary.
    rows : list of str
        Levels of the first variable of a table; those of the other are its columns.
    """

    kind: str = "points"
    correlation_original: float | None = None
    correlation_released: float | None = None
    rows: Sequence[Any] = ()


def two_way(comparison: Comparison, one: str, other: str) -> Reading[TwoWay]:
    """The relation of two variables in both files, shape (rows, columns)."""
    if one == other:
        raise NotApplicable("A picture of a relation needs two different variables.")
    original = comparison.original
    kinds = [original.schema.variable(name).kind for name in (one, other)]
    if Kind.CATEGORICAL in kinds or Kind.ORDERED in kinds:
        return _table(comparison, one, other)
    tables, slopes = [], []
    for table, where in ((original, ""), (comparison.masked, RELEASED)):
        values = matrix(original, table, [one, other])
        values = values[~np.isnan(values).any(axis=1)]
        if not len(values):
            raise NotApplicable(f"No record has both {one} and {other}{where}.")
        tables.append(values)
        found = float(correlation_matrix(values)[0, 1]) if len(values) > 1 else float("nan")
        slopes.append(None if np.isnan(found) else found)
    known = [r for r in slopes if r is not None]
    return Reading(
        value=abs(known[1] - known[0]) if len(known) == 2 else 0.0,
        baseline=0.0,
        detail=TwoWay(
            names=[one, other],
            original=tables[0],
            released=tables[1],
            correlation_original=slopes[0],
            correlation_released=slopes[1],
        ),
    )


def _table(comparison: Comparison, one: str, other: str) -> Reading[TwoWay]:
    original = comparison.original
    groups = [grouping(original, original.schema.variable(name)) for name in (one, other)]
    sizes = [len(group.labels) for group in groups]
    before, after = (
        counts([group.codes(original, table) for group in groups], sizes).reshape(sizes)
        for table in (original, comparison.masked)
    )
    used = before + after > 0
    rows, columns = np.flatnonzero(used.any(axis=1)), np.flatnonzero(used.any(axis=0))
    return Reading(
        value=total_variation(before.ravel(), after.ravel()),
        baseline=0.0,
        detail=TwoWay(
            kind="table",
            names=[one, other],
            rows=[groups[0].labels[row] for row in rows],
            columns=[groups[1].labels[column] for column in columns],
            original=before[rows][:, columns],
            released=after[rows][:, columns],
        ),
    )
