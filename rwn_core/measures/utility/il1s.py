"""IL1s: distance of the released cells from their own originals."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, matrix
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View
from rwn_core.measures.statistics.distributions import standard_deviation


def il1s(before: Floats, after: Floats, spread: Floats) -> Floats:
    """Return each cell's change in sqrt(2) standard deviations, shape (n, m)."""
    # Mateo-Sanz, Sebe, Domingo-Ferrer 2004. sdcMicro's dUtility reports the sum.
    return np.asarray(np.abs(after / spread - before / spread) / np.sqrt(2))


def il1_percent(before: Floats, after: Floats) -> Floats:
    """Return each cell's change in percent; NaN if the original is 0 or one is missing."""
    size = np.where(before == 0, np.nan, np.abs(before))
    return np.asarray(100 * np.abs(after / size - before / size))


def compute(comparison: Comparison) -> Reading:
    """Return the mean distance of the numeric cells from their own originals."""
    original = comparison.original
    before = matrix(original, original, original.numeric_names)
    spread = np.array([standard_deviation(column[~np.isnan(column)]) for column in before.T])
    names = [name for name, sd in zip(original.numeric_names, spread, strict=True) if sd > 0]
    if not names:
        raise NotApplicable("No continuous or count variable varies, so no distance has a unit.")
    before = before[:, spread > 0]
    after = matrix(original, comparison.masked, names)
    distance = il1s(before, after, spread[spread > 0])
    known = ~np.isnan(distance)
    if not known.any():
        raise NotApplicable("No numeric cell has a value in both tables.")
    percent = il1_percent(before, after)
    value = float(distance[known].mean())
    detail = {
        "names": names,
        "il1s": _means(distance),
        "il1_percent": _means(percent),
        "il1s_sum": float(distance[known].sum()),
        "il1_percent_sum": float(percent[~np.isnan(percent)].sum()),
        "cells": int(known.sum()),
        "constant": [n for n, sd in zip(original.numeric_names, spread, strict=True) if sd == 0],
    }
    return Reading(value=value, baseline=0.0, detail=detail)


def _means(cells: Floats) -> Floats:
    """Return the mean of each column over its known cells; 0 for none."""
    known = ~np.isnan(cells)
    return np.asarray(np.where(known, cells, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


MEASURE = Measure(
    key="il1s",
    title="Cell distance (IL1s)",
    side="utility",
    bounds=FROM_ZERO,
    unit="√2 standard deviations (mean over cells)",
    question="How far is each released number from the record's own original?",
    source="Mateo-Sanz, Sebé, Domingo-Ferrer 2004",
    compute=compute,
    view=View(on={"report": 99}),
)
