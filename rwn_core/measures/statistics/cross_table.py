"""Groups of a variable's values for cross tables, cut by the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable
from rwn_core.measures.comparison import codes, numbers

MOST_LEVELS = 12  # of a category; the rarer ones count as one group
FEW_VALUES = 6  # a number of so few different values is a category
CUTS = (0.2, 0.4, 0.6, 0.8)  # elsewhere: fifths of the original's records


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Groups of one variable, cut by the original."""

    name: str
    labels: tuple[str, ...]  # one per group; the last is for missing values
    group_of: Integers | None  # of a category: the group of each level
    edges: Floats | None  # of a number: ascending upper ends of all groups but the last

    def codes(self, original: Microdata, table: Microdata) -> Integers:
        """Return the group of every record of either table, shape (n,)."""
        missing = len(self.labels) - 1
        if self.group_of is not None:
            level_codes, levels = codes(original, table, self.name)
            # a level that only this table has goes with the rare ones
            group = np.append(self.group_of, np.full(len(levels) - len(self.group_of), missing - 1))
            return np.where(level_codes < 0, missing, group[level_codes])
        assert self.edges is not None
        values = numbers(original, table, self.name)
        return np.where(np.isnan(values), missing, np.searchsorted(self.edges, values))


def grouping(original: Microdata, variable: Variable, cuts: Sequence[float] = CUTS) -> Grouping:
    """Cut one variable at shares of the original's records; at most 12 groups and missing."""
    if variable.kind in (Kind.CATEGORICAL, Kind.ORDERED):
        return _levels(original, variable.name)
    values = numbers(original, original, variable.name)
    known = np.sort(values[~np.isnan(values)])
    different = known[np.concatenate(([True], known[1:] > known[:-1]))] if len(known) else known
    if len(different) <= FEW_VALUES:
        edges = different[:-1]
        labels = [f"= {value:g}" for value in different.tolist()] or ["(none)"]
    else:
        ranks = np.ceil(np.asarray(cuts) * len(known)).astype(np.intp) - 1
        edges = np.unique(known[np.maximum(ranks, 0)])
        edges = edges[edges < known[-1]]
        ends = edges.tolist()
        labels = [f"≤ {ends[0]:.4g}", *(f"≤ {end:.4g}" for end in ends[1:]), f"> {ends[-1]:.4g}"]
    return Grouping(name=variable.name, labels=(*labels, "(missing)"), group_of=None, edges=edges)


def _levels(original: Microdata, name: str) -> Grouping:
    level_codes, levels = original.codes(name)
    counts = np.bincount(level_codes[level_codes >= 0], minlength=len(levels))
    ranked = np.argsort(-counts, kind="stable")
    # one group more than there are levels: what only a release has
    own = np.sort(ranked[: MOST_LEVELS - 1])
    group_of = np.full(len(levels), len(own), dtype=np.int64)
    group_of[own] = np.arange(len(own))
    labels = (*(str(levels[level]) for level in own), "(others)", "(missing)")
    return Grouping(name=name, labels=labels, group_of=group_of, edges=None)


def counts(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Count the records in each cell of a cross table, shape (product of sizes,)."""
    cell = codes[0]
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        cell = cell * size + code
    return np.bincount(cell, minlength=int(np.prod(sizes)))
