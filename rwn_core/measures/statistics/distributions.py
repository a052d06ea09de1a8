"""Bins of one variable, and distances between two distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, codes, numbers
from rwn_core.measures.measure import Detail, Sides

_ZEROS: Sides[float] = Sides(0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marginal:
    """The distribution of one variable in both files: b bins of a number, or b levels.

    Attributes
    ----------
    edges : ndarray of float64, shape (b + 1,), optional
        Of the bins; None for a variable of levels.
    levels : list, optional
    original, released : ndarray of int, shape (b,)
        Records in each bin or of each level.
    difference : float
        Kolmogorov-Smirnov or total variation distance of the known values, or the change of the
        share of missing ones, whichever is larger; from 0 to 1.
    missing : Sides of int
    mean, sd : Sides of float
        Of a number, in its unit.
    """

    edges: Floats | None = None
    levels: Sequence[Any] = ()
    original: Integers
    released: Integers
    difference: float
    missing: Sides[int]
    mean: Sides[float] = _ZEROS
    sd: Sides[float] = _ZEROS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distances(Detail):
    """The distance of the distribution of each of m variables, or of their cross tables.

    Attributes
    ----------
    names : sequence of str
    distance : ndarray of float64, shape (m,)
        In the measure's unit; of each of `pairs`, where there are some.
    pairs : sequence of list of str
        Variables of the cross tables.
    il1s_sum, il1_percent_sum : float
        Over all cells, as sdcMicro reports them.
    cells : int
        How many have a value in both files.
    constant : sequence of str
        Variables without a unit, which are left out.
    variables : mapping of str to Marginal
        The distributions, where they are drawn.
    """

    distance: Floats
    il1s_sum: float = 0.0
    il1_percent_sum: float = 0.0
    cells: int = 0
    constant: Sequence[str] = ()
    variables: Mapping[str, Marginal] = field(default_factory=dict)
    pairs: Sequence[list[str]] = ()


MOST_BINS = 40
LARGEST_UNIT = 2.0**50  # up to here a whole number has halves between it and the next


def total_variation(one: Integers, other: Integers) -> float:
    """Return the total variation distance of two tables of counts of the same levels."""
    # whole numbers until the last step: equal shares give exactly 0
    n, m = int(one.sum()), int(other.sum())
    return float(np.abs(one * m - other * n).sum() / (2 * n * m))


def level_counts(comparison: Comparison, name: str) -> tuple[list[Any], Integers, Integers]:
    """Return a category's levels, and how many records of each table have each, if any."""
    before, _ = codes(comparison.original, comparison.original, name)
    after, levels = codes(comparison.original, comparison.masked, name)
    one, two = (np.bincount(c[c >= 0], minlength=len(levels)) for c in (before, after))
    refuse_all_missing(int(one.sum()), name, "")
    refuse_all_missing(int(two.sum()), name, RELEASED)
    return levels, one, two


def refuse_all_missing(known: int, name: str, where: str) -> None:
    """Refuse a variable without known values."""
    if not known:
        raise NotApplicable(f"Every value of variable {name} is missing{where}.")


def bin_edges(ascending: Floats) -> Floats:
    """Return the edges of 1 to 40 equal bins; one bin for each of few integer values."""
    # Shapes: ascending (n,); the answer (m,), one more than bins.
    low, high = float(ascending[0]), float(ascending[-1])
    near = high - low < MOST_BINS and max(-low, high) < LARGEST_UNIT
    if near and (ascending == np.round(ascending)).all():
        return np.arange(low, high + 2) - 0.5
    if low == high:
        half = max(0.5, abs(low) / 100)
        return np.array([low - half, low + half])
    return np.linspace(low, high, min(MOST_BINS, max(10, round(len(ascending) ** 0.5))) + 1)


def grid_step(ascending: Floats) -> float:
    """Return the step that all ascending distinct values are multiples of; 0 if there is none."""
    # Shapes: ascending (d,).
    gaps = np.diff(ascending)
    if not len(gaps):
        return 0.0
    step = float(np.median(gaps[gaps < 1.5 * gaps.min()]))
    multiples = ascending / step
    return step if (np.abs(multiples - np.round(multiples)) < 1e-6).all() else 0.0


def grid_edges(low: float, high: float, step: float) -> Floats:
    """Return the edges of 1 to 40 bins that hold equally many multiples of a step."""
    # Shapes: the answer (m,), one more than bins.
    first, last = np.floor(low / step + 0.5), np.floor(high / step + 0.5)
    each = -(-int(last - first + 1) // MOST_BINS)
    bins = -(-int(last - first + 1) // each)
    return np.asarray((first - 0.5 + each * np.arange(bins + 1)) * step, dtype=np.float64)


def bin_counts(ascending: Floats, edges: Floats) -> Integers:
    """Count the values in each bin, shape (b,); the upper edge belongs to the last bin."""
    ends = np.searchsorted(ascending, edges, side="left")
    ends[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(ends)


def hellinger(one: Integers, other: Integers) -> float:
    """Return the Hellinger distance (1909) of two tables of counts of the same levels."""
    n, m = int(one.sum()), int(other.sum())
    # whole numbers below the root: equal shares give exactly 0
    roots = np.sqrt(one.astype(np.float64) * m) - np.sqrt(other.astype(np.float64) * n)
    return float(min(np.sqrt(0.5 * (roots**2).sum() / (float(n) * m)), 1.0))


def standard_deviation(values: Floats) -> float:
    """Return the standard deviation (divisor n - 1) without overflow; exactly 0 for a constant."""
    # Shapes: values (n,).
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    centered = values - (values / len(values)).sum()
    largest = float(np.abs(centered).max())
    return largest * float((centered / largest).std(ddof=1))


def varying_numbers(
    comparison: Comparison, what: str
) -> tuple[list[str], list[tuple[Floats, Floats, float]]]:
    """Return the varying numbers' names, known values of both tables and standard deviations."""
    # Shapes: before (b,) and after (a,), the known values of either table.
    original = comparison.original
    names = []
    found = []
    for name in original.numeric_names:
        both = [numbers(original, table, name) for table in (original, comparison.masked)]
        before, after = (values[~np.isnan(values)] for values in both)
        spread = standard_deviation(before)
        if spread:
            refuse_all_missing(len(after), name, RELEASED)
            names.append(name)
            found.append((before, after, spread))
    if not names:
        raise NotApplicable(f"No continuous or count variable varies, so no {what} has a unit.")
    return names, found


# Groups of a variable's values for cross tables, cut by the original

MOST_LEVELS = 12  # of a category; the rarer ones count as one group
FEW_VALUES = 6  # a number of so few different values is a category
CUTS = (0.2, 0.4, 0.6, 0.8)  # elsewhere: fifths of the original's records


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """The groups of one variable, cut by the original."""

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


def grouping(
    original: Microdata, variable: Variable, cuts: Sequence[float] = CUTS, most: int = MOST_LEVELS
) -> Grouping:
    """Cut one variable at shares of the original's records: at most `most` groups, and missing."""
    if variable.kind in LEVELS:
        level_codes, levels = original.codes(variable.name)
        counts = np.bincount(level_codes[level_codes >= 0], minlength=len(levels))
        # one group more than there are levels: what only a release has
        own = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
        group_of = np.full(len(levels), len(own), dtype=np.int64)
        group_of[own] = np.arange(len(own))
        named = (*(str(levels[level]) for level in own), "(others)", "(missing)")
        return Grouping(name=variable.name, labels=named, group_of=group_of, edges=None)
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


def grouped(
    comparison: Comparison,
    variables: Sequence[Variable],
    cuts: Sequence[float] = CUTS,
    most: int = MOST_LEVELS,
) -> tuple[list[Grouping], Sides[list[Integers]]]:
    """Return the groups of some variables, and the group of every record of both tables."""
    # Shapes: each of the codes (n,), of the records of the table.
    original, cached = comparison.original, comparison.cached_for_original
    about = cuts, most, *(variable.name for variable in variables)
    groups = cached(
        ("groups", about), lambda: [grouping(original, v, cuts, most) for v in variables]
    )
    before = cached(("grouped", about), lambda: [g.codes(original, original) for g in groups])
    return groups, Sides(before, [g.codes(original, comparison.masked) for g in groups])


def counts(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Count the records in each cell of a cross table, shape (product of sizes,)."""
    cell = codes[0]
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        cell = cell * size + code
    return np.bincount(cell, minlength=int(np.prod(sizes)))


class Steps(NamedTuple):
    """An empirical distribution function."""

    values: Floats  # shape (d,): the distinct values, ascending
    shares: Floats  # shape (d + 1,): the share at or below each, preceded by 0


def distribution_steps(ascending: Floats) -> Steps:
    """Return the empirical distribution function of values."""
    # Shape: ascending (n,).
    new = np.concatenate(([True], ascending[1:] > ascending[:-1]))
    ends = np.append(np.flatnonzero(new), len(ascending))
    return Steps(ascending[ends[:-1]], ends / len(ascending))


def kolmogorov_smirnov(steps: Steps, other: Floats) -> float:
    """Return the largest distance of two empirical distribution functions."""
    # Shape: other (n,), ascending and complete.
    # between two steps the first function is flat and the second rises: its ends decide
    shares = steps.shares
    at = np.searchsorted(other, steps.values, side="right") / len(other)
    before = np.searchsorted(other, steps.values, side="left") / len(other)
    return float(max(np.abs(shares[1:] - at).max(), np.abs(shares[:-1] - before).max()))
