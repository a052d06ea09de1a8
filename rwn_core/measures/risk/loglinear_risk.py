"""Log-linear risk: expected correct matches of sample uniques with the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, numbers, released_rows
from rwn_core.measures.measure import Measure, Reading, Sides
from rwn_core.measures.statistics.key_variables import class_sizes, key_names
from rwn_core.measures.statistics.population import (
    FileRisk,
    PopulationRisk,
    expected_inverse,
    file_risk,
    probability_unique,
    slopes_of_inverse,
)
from rwn_core.measures.view import View

STEPS = 60
CLOSE = 1e-6  # largest remaining error of a margin, in records
ENOUGH = 1.96  # |B| / sd(B) at which a model is no longer refuted

Terms = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A fitted model of key cells."""

    terms: Terms  # fitted margins: a key each for main effects, pairs for interactions
    means: Floats  # fitted sample means of all cells, in the shape of the table of counts
    risk: FileRisk
    # the check B of tau2, standardized; about standard normal if the model holds, above 0 where it
    # is too simple
    z: float


def fit_margins(counts: Floats, terms: Terms) -> Floats:
    """Return the fitted means of a log-linear model with these margins (Deming, Stephan 1940)."""
    # Shapes: counts and the answer have the same shape, with an axis for each variable.
    means = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(STEPS):
        error = 0.0
        for term in terms:
            others = tuple(axis for axis in range(counts.ndim) if axis not in term)
            target = counts.sum(axis=others, keepdims=True)
            have = means.sum(axis=others, keepdims=True)
            error = max(error, float(np.abs(target - have).max()))
            means = means * np.divide(target, have, out=np.zeros_like(target), where=have > 0)
        if error < CLOSE:
            break
    return means


def check_deviation(means: Floats, fraction: float) -> float:
    """Return the standard deviation of the check B of tau2 under the model."""
    # Shapes: means with an axis for each variable, (c,) when flat.
    # For a Poisson count f of mean m, f - m has variance m, (f - m)^2 - f has variance 2 m^2, and
    # the two are uncorrelated.
    m = np.maximum(means.ravel(), 1e-300)
    first, second = slopes_of_inverse(m / fraction, fraction)
    variance = (first / fraction) ** 2 * m + (second / fraction**2) ** 2 * m**2 / 2
    return float(np.sqrt(((m * np.exp(-m)) ** 2 * variance).sum()))


def _model(counts: Floats, terms: Terms, fraction: float) -> Model:
    means = fit_margins(counts, terms)
    risk = file_risk(counts.ravel(), means.ravel(), fraction)
    spread = check_deviation(means, fraction)
    z = risk.check2 / spread if spread > 0 else 0.0
    return Model(terms=terms, means=means, risk=risk, z=z)


MOST_INTERACTIONS = 6  # of a path of models


def forward_search(counts: Floats, fraction: float) -> list[Model]:
    """Return models from main effects on, each with one more interaction."""
    # The search ends when |B| is at most 1.96 standard deviations (Skinner and Shlomo 2008, section
    # 4).
    mains: Terms = tuple((axis,) for axis in range(counts.ndim))
    path = [_model(counts, mains, fraction)]
    left = list(combinations(range(counts.ndim), 2))
    while left and len(path) <= MOST_INTERACTIONS and abs(path[-1].z) > ENOUGH and fraction < 1:
        tried = []
        for pair in left:  # the margins that the new one contains are dropped
            others = tuple(term for term in path[-1].terms if not set(term) <= set(pair))
            tried.append(_model(counts, (*others, pair), fraction))
        best = int(np.argmin([abs(model.z) for model in tried]))
        if abs(tried[best].z) >= abs(path[-1].z):
            break
        path.append(tried[best])
        left.pop(best)
    return path


GROUPS = 6  # quantile groups of a number with more different values
MOST_CELLS = 20_000  # decides: cells of the keys in a log-linear model; further keys are left out
MOST_KEYS = 6


def key_cells(
    comparison: Comparison, keys: Sequence[str]
) -> tuple[list[Floats], list[str], list[Integers], dict[str, tuple[Integers, Integers]]]:
    """Return the contingency tables of both files, an axis per key, and each record's cell."""
    # Also the keys of the axes, and `apart`: the codes of keys for which the table has no room;
    # keys of one level are dropped.
    columns: list[tuple[Integers, Integers]] = []
    widths: list[int] = []
    used: list[str] = []
    leaving = released_rows(comparison.original, comparison.masked)
    apart: dict[str, tuple[Integers, Integers]] = {}
    for name in keys:
        pair, width = _grouped(comparison, name)
        if width < 2:
            continue
        if np.prod([*widths, width]) > MOST_CELLS or len(used) == MOST_KEYS:
            apart[name] = pair[0], pair[1][leaving]
            continue
        columns.append(pair)
        widths.append(width)
        used.append(name)
    if not used:
        raise NotApplicable("No key variable has two levels, so there are no cells to model.")
    tables, places = [], []
    for side, rows in ((0, slice(None)), (1, leaving)):
        cells = np.ravel_multi_index(tuple(pair[side][rows] for pair in columns), tuple(widths))
        counts = np.bincount(cells, minlength=int(np.prod(widths))).astype(np.float64)
        tables.append(counts.reshape(widths))
        places.append(cells)
    return tables, used, places, apart


def _grouped(comparison: Comparison, name: str) -> tuple[tuple[Integers, Integers], int]:
    """Return one key of both tables as codes from 0, numbers in quantile groups."""
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


def compute(comparison: Comparison) -> Reading[PopulationRisk]:
    """Return the expected number of correct matches of released sample uniques, as a share."""
    # The sampling fraction is the file's size over the sum of the sampling weights.
    keys = key_names(comparison)
    population = float(
        comparison.sampling.record_weights(comparison.original, comparison.original).sum()
    )
    tables, used, cells, apart = key_cells(comparison, keys)
    risks, shares = [], []
    for side, counts in enumerate(tables):
        size = float(counts.sum())
        fraction = min(size / max(population, size), 1.0)
        path = forward_search(counts, fraction)
        others = [pair[side] for pair in apart.values()]
        risks.append(all_keys_risk(path[-1].means.ravel(), cells[side], others, fraction))
        shares.append(min(risks[-1][2] / max(size, 1.0), 1.0))
    uniques, tau1, tau2 = (Sides(*both) for both in zip(*risks, strict=True))
    verb = "enters" if len(apart) == 1 else "enter"
    caveat = f"{', '.join(apart)} {verb} as independent of the other keys, for lack of cells."
    detail = PopulationRisk(
        names=used,
        independent=list(apart),
        left_out=[name for name in keys if name not in used and name not in apart],
        population=population,
        cells=tables[0].size,
        uniques=uniques,
        alone=tau1,
        expected=tau2,
        model=", ".join(" × ".join(used[at] for at in x) for x in path[-1].terms if len(x) > 1),
        of_names=path[-1].risk.tau2,
        check=path[-1].risk.check2,
        z=path[-1].z,
        caveat=caveat if apart else "",
    )
    return Reading(value=shares[1], baseline=shares[0], detail=detail)


def all_keys_risk(
    means: Floats, cells: Integers, apart: Sequence[Integers], fraction: float
) -> tuple[int, float, float]:
    """Return the records that are unique on all keys, and their expected tau1 and tau2."""
    # Shapes: means (c,); cells, each of apart (n,).
    # The keys `apart` are independent of all others in the model: each multiplies the fitted mean
    # by the share of the record's level.
    n, rate = len(cells), np.maximum(means[cells], 1e-300) / fraction
    for levels in apart:
        rate = rate * np.bincount(levels)[levels] / n
    alone = class_sizes(np.column_stack([cells, *apart])) == 1
    tau1 = float(probability_unique(rate[alone], fraction).sum())
    return int(alone.sum()), tau1, float(expected_inverse(rate[alone], fraction).sum())


def sentence(reading: Reading[PopulationRisk], n: int) -> str:
    """Say how many matches with the population are correct."""
    detail = reading.detail
    caveat = f" {detail.caveat}" if detail.caveat else ""
    left = f" Left out, of one level only: {', '.join(detail.left_out)}."
    ending = ", if the file is the whole population (give its size or sampling weights)."
    return (
        f"Matching unique rows with the population gives {reading.value * n:,.1f} right matches "
        f"in expectation{'.' if detail.population > n else ending}{caveat}"
        f"{left if detail.left_out else ''}"
    )


def model_table(reading: Reading[PopulationRisk], n: int) -> dict[str, Any]:
    """Return the uniques of both files, and how the model of the keys fits."""
    detail = reading.detail
    # a row for each file
    rows = [
        [side, *(f"{each:,.4g}" for each in (uniques, alone, right, alone / max(uniques, 1)))]
        for side, uniques, alone, right in zip(
            Sides._fields, detail.uniques, detail.alone, detail.expected, strict=True
        )
    ]
    # what the model leaves out, and how it fits the released counts
    out = f" {detail.caveat}" if detail.caveat else ""
    out += f" Left out: {', '.join(detail.left_out)}." if detail.left_out else ""
    model = (
        f"Model of the released counts: {detail.model or 'main effects only'}; check B of τ2 "
        f"{detail.check:.3g}, {detail.z:.2g} standard deviations (above 2: too simple, the risk is "
        "overestimated)."
    )
    if detail.population <= n:
        model = (
            "The file is taken for the whole population, so that unique is unique; give the size "
            "of the population or sampling weights."
        )
    return {
        "title": f"Log-linear risk on {', '.join([*detail.names, *detail.independent])}",
        "columns": [
            "file",
            "sample uniques",
            "of them unique in the population (τ1)",
            "right matches expected (τ2)",
            "leakage (τ1 / uniques)",
        ],
        "rows": rows,
        "caption": f"{model} Numbers are grouped by their quantiles; {detail.cells:,} cells.{out}",
    }


MEASURE = Measure(
    key="loglinear_risk",
    title="Log-linear risk",
    unit="expected right matches, share of records",
    question="How many right matches does an intruder expect who matches every record that is "
    "unique on the keys with the population?",
    sentence=sentence,
    source="Skinner and Shlomo 2008 (tau2 as a share of the records; model by forward search); "
    "without a population size or weights the file is the population",
    compute=compute,
    of_released=True,
    view=View(
        about="row",
        tables=(model_table,),
        shared="key_classes",
        label="log-linear matches",
        places={"tables of keys": 3, "report": 20},
    ),
)
