"""Marginal distributions of the variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, numbers
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.distributions import (
    bin_counts,
    bin_edges,
    grid_edges,
    grid_step,
    level_counts,
    refuse_all_missing,
    total_variation,
)


def distribution_steps(ascending: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values, and the share at or below each, preceded by 0."""
    new = np.concatenate(([True], ascending[1:] > ascending[:-1]))
    ends = np.append(np.flatnonzero(new), len(ascending))
    return ascending[ends[:-1]], ends / len(ascending)


def kolmogorov_smirnov(steps: tuple[Floats, Floats], other: Floats) -> float:
    """Return the largest distance of two empirical distribution functions."""
    # `steps` is from `distribution_steps`; `other` is ascending and complete.
    # between two steps the first function is flat and the second rises: its ends decide
    values, shares = steps
    at = np.searchsorted(other, values, side="right") / len(other)
    before = np.searchsorted(other, values, side="left") / len(other)
    return float(max(np.abs(shares[1:] - at).max(), np.abs(shares[:-1] - before).max()))


_FINE = 1 / 8  # of a bin: finer steps leave every bin about as many multiples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Numeric:
    """Statistics of one numeric variable of the original."""

    steps: tuple[Floats, Floats]
    step: float  # of which all values are multiples; 0 if there is none
    edges: Floats
    summary: dict[str, float]
    counts: Integers


def _summary(ascending: Floats) -> dict[str, float]:
    spread = float(ascending.std(ddof=1)) if ascending[0] < ascending[-1] else 0.0
    return {"mean": float(ascending.mean()), "sd": spread}


def _known(original: Microdata, table: Microdata, name: str, where: str) -> Floats:
    values = np.sort(numbers(original, table, name))  # NaN last
    known = values[: len(values) - int(np.isnan(values).sum())]
    refuse_all_missing(len(known), name, where)
    return known


def _numeric(comparison: Comparison, name: str) -> dict[str, Any]:
    def profile() -> _Numeric:
        known = _known(comparison.original, comparison.original, name, "")
        steps = distribution_steps(known)
        step, edges = grid_step(steps[0]), bin_edges(known)
        if _towers(step, edges):
            edges = grid_edges(known[0], known[-1], step)
        return _Numeric(
            steps=steps,
            step=step,
            edges=edges,
            summary=_summary(known),
            counts=bin_counts(known, edges),
        )

    before = comparison.cached_for_original(("marginal", name), profile)
    known = _known(comparison.original, comparison.masked, name, RELEASED)
    after = _summary(known)
    edges, counts = _widened(before, known)
    return {
        "kind": "numeric",
        "edges": edges,
        "original": counts,
        "released": bin_counts(known, edges),
        "difference": kolmogorov_smirnov(before.steps, known),
        "mean_original": before.summary["mean"],
        "mean_released": after["mean"],
        "sd_original": before.summary["sd"],
        "sd_released": after["sd"],
        "missing_original": comparison.original.n - int(before.counts.sum()),
        "missing_released": comparison.masked.n - len(known),
    }


def _towers(step: float, edges: Floats) -> bool:
    """Return True if some bins would hold visibly more multiples of the step than others."""
    width = float(edges[1] - edges[0])
    return step > _FINE * width and not np.isclose(step, width)


def _widened(before: _Numeric, known: Floats) -> tuple[Floats, Integers]:
    """Return the original's bins and counts, fitted to a coarser or wider release."""
    edges, counts = before.edges, before.counts
    step = grid_step(np.unique(known))
    if step > 1.5 * before.step and _towers(step, edges):  # rounded: the bins follow the steps
        values, shares = before.steps
        edges = grid_edges(min(known[0], values[0]), max(known[-1], values[-1]), step)
        below = np.searchsorted(values, edges, side="left")
        each = np.round(shares[below] * before.counts.sum()).astype(np.int64)
        return edges, np.diff(each)
    if known[0] < edges[0]:
        edges, counts = np.append(known[0], edges), np.append(0, counts)
    if known[-1] > edges[-1]:
        # an upper edge belongs to the last bin alone: no value changes bins
        top = np.nextafter(edges[-1], np.inf)
        edges = np.concatenate((edges[:-1], [top, max(known[-1], np.nextafter(top, np.inf))]))
        counts = np.append(counts, 0)
    return edges, counts


def _marginal(comparison: Comparison, variable: Variable) -> Mapping[str, Any]:
    name = variable.name
    if variable.kind not in (Kind.CATEGORICAL, Kind.ORDERED):
        return _numeric(comparison, name)
    levels, before, after = level_counts(comparison, name)
    known = int(before.sum()), int(after.sum())
    refuse_all_missing(known[0], name, "")
    refuse_all_missing(known[1], name, RELEASED)
    return {
        "kind": "categorical",
        "levels": [
            level if isinstance(level, str | bool | int) else str(level) for level in levels
        ],
        "original": before,
        "released": after,
        "difference": total_variation(before, after),
        "missing_original": comparison.original.n - known[0],
        "missing_released": comparison.masked.n - known[1],
    }


def compute(comparison: Comparison) -> Reading:
    """Return the mean distance of the variables: Kolmogorov-Smirnov or total variation."""
    released = comparison.original.schema.released
    variables = {variable.name: _marginal(comparison, variable) for variable in released}
    value = float(np.mean([shown["difference"] for shown in variables.values()]))
    return Reading(value=value, baseline=0.0, detail={"variables": variables})


def one_marginal(comparison: Comparison, name: str) -> Reading | NotApplicable:
    """Return the distance of one variable's distribution, with its entry of `compute`."""
    try:
        shown = _marginal(comparison, comparison.original.schema.variable(name))
    except NotApplicable as reason:
        return NotApplicable(reason.reason)
    return Reading(value=shown["difference"], baseline=0.0, detail={"variables": {name: shown}})


MEASURE = Measure(
    key="marginals",
    title="Distributions",
    side="utility",
    unit="mean distance of distributions",
    question="Does each variable still have its own distribution?",
    source="Kolmogorov-Smirnov distance of numbers, total variation distance of categories",
    compute=compute,
    view=View(on={"report": 99}),
)
