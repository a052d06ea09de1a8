"""Log-linear risk: how many sample uniques are expected to be unique in the population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import codes, numbers, released_rows
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.key_variables import key_names
from rwn_core.measures.statistics.loglinear import Model, forward_search

GROUPS = 6  # quantile groups of a number with more different values
MOST_CELLS = 20_000
MOST_KEYS = 6


def key_cells(
    comparison: Comparison, keys: Sequence[str]
) -> tuple[list[NDArray[np.float64]], tuple[str, ...]]:
    """The tables of counts of both files, an axis for each key.

    Returns
    -------
    counts : list of two ndarray of float64
        Original and released.
    used : tuple of str
        The keys, without those of one level and those for which there is no room.
    """
    columns: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    widths: list[int] = []
    used: list[str] = []
    for name in keys:
        pair, width = _grouped(comparison, name)
        if width < 2 or np.prod([*widths, width]) > MOST_CELLS or len(used) == MOST_KEYS:
            continue
        columns.append(pair)
        widths.append(width)
        used.append(name)
    if not used:
        raise NotApplicable("No key variable has two levels, so there are no cells to model.")
    tables = []
    leaving = released_rows(comparison.original, comparison.masked)
    for side, rows in ((0, slice(None)), (1, leaving)):
        cells = np.ravel_multi_index(tuple(pair[side][rows] for pair in columns), tuple(widths))
        counts = np.bincount(cells, minlength=int(np.prod(widths))).astype(np.float64)
        tables.append(counts.reshape(widths))
    return tables, tuple(used)


def _grouped(
    comparison: Comparison, name: str
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], int]:
    """One key of both tables as level numbers from 0, numbers in quantile groups."""
    original, masked = comparison.original, comparison.masked
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        before, after = (codes(original, table, name)[0] for table in (original, masked))
    else:
        values = original.values(name)
        known = np.unique(values[~np.isnan(values)])
        edges = known[1:]
        if len(known) > GROUPS:
            edges = np.unique(np.nanquantile(values, np.linspace(0, 1, GROUPS + 1)[1:-1]))
        before, after = (
            np.where(np.isnan(v), -1, np.searchsorted(edges, v, side="right"))
            for v in (values, numbers(original, masked, name))
        )
    both = np.unique(np.concatenate((before, after)), return_inverse=True)[1].ravel()
    width = int(both.max()) + 1
    return (both[: original.n].astype(np.int64), both[original.n :].astype(np.int64)), width


def compute(comparison: Comparison) -> Reading:
    """Expected number of right matches of released sample uniques, as a share of the records.

    The sampling fraction is the file's size over the sum of the sampling weights. Where the file
    is the population, every sample unique is a population unique.
    """
    keys = key_names(comparison)
    population = float(comparison.sampling.of(comparison.original, comparison.original).sum())
    tables, used = key_cells(comparison, keys)
    paths = []
    for counts in tables:
        size = float(counts.sum())
        fraction = min(size / max(population, size), 1.0)
        paths.append(forward_search(counts, fraction))
    before, after = paths[0][-1], paths[1][-1]
    detail: dict[str, Any] = {
        "names": list(used),
        "left_out": [name for name in keys if name not in used],
        "population": population,
        "cells": tables[0].size,
        "uniques_original": before.risk.uniques,
        "uniques_released": after.risk.uniques,
        "tau1_original": before.risk.tau1,
        "tau1_released": after.risk.tau1,
        "tau2_original": before.risk.tau2,
        "tau2_released": after.risk.tau2,
        "leakage_original": _share(before),
        "leakage_released": _share(after),
        "path": [_step(model, used) for model in paths[1]],
    }
    value = after.risk.tau2 / max(float(tables[1].sum()), 1.0)
    baseline = before.risk.tau2 / max(float(tables[0].sum()), 1.0)
    return Reading(value=min(value, 1.0), baseline=min(baseline, 1.0), detail=detail)


def _share(model: Model) -> float:
    """Expected share of sample uniques that are population uniques."""
    return model.risk.tau1 / model.risk.uniques if model.risk.uniques else 0.0


def _step(model: Model, names: tuple[str, ...]) -> dict[str, Any]:
    pairs = [" × ".join(names[axis] for axis in term) for term in model.terms if len(term) > 1]
    return {
        "interactions": pairs,
        "tau1": model.risk.tau1,
        "tau2": model.risk.tau2,
        "check1": model.risk.check1,
        "check2": model.risk.check2,
        "z": model.z,
    }


def sentence(reading: Reading, n: int) -> str:
    """Say how many matches with the population are right."""
    whole = ", if the file is the whole population (give its size or sampling weights)."
    return (
        f"Matching unique rows with the population gives {reading.value * n:,.1f} right matches "
        f"in expectation{'.' if reading.detail['population'] > n else whole}"
    )


MEASURE = Measure(
    key="loglinear_risk",
    title="Log-linear risk",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="expected right matches, share of records",
    question="How many right matches does an intruder expect who matches every record that is "
    "unique on the keys with the population?",
    sentence=sentence,
    source="Skinner and Shlomo 2008 (tau2 as a share of the records; model by forward search); "
    "without a population size or weights the file is the population",
    compute=compute,
    of_released=True,
)
