"""How each kind of statistic is read: in a forecast, and in a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.value_codes import codes_like, value_codes
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.forecast.columns import keys_of_one_unit, lone_people
from rwn_core.evaluation.forecast.forecast import Forecast
from rwn_core.measures.aligned import codes, matrix, numbers
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.cells_changed import changed_cells
from rwn_core.measures.statistics.correlation import correlation_matrix


class Named(Protocol):
    """What a kind reads of a statistic: the variables that it is of, and a level of each."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""

    @property
    def levels(self) -> tuple[Any, ...]:
        """Of a category or subgroup: the level of each variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    words: str
    short: str
    expected: Callable[[Named, Forecast, Microdata], float]
    realized: Callable[[Named, Comparison], float]
    variables: int = 0
    levels: int = 0
    share: bool = False
    label: str = ""


def _mean_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    first, second = np.triu_indices(len(before), 1)
    change = np.abs(after - before)[first, second]
    defined = ~np.isnan(change)
    if not defined.any():
        raise NotApplicable("No pair of numeric variables varies.")
    return float(change[defined].mean())


def _correlations(table: Microdata, original: Microdata) -> NDArray[np.float64]:
    return correlation_matrix(matrix(original, table, original.numeric_names))


def _expected_change(statistic: Named, forecast: Forecast, original: Microdata) -> float:
    before = original.cached("statistics.correlations", lambda: _correlations(original, original))
    return _mean_change(before, forecast.correlations.to_numpy())


def _realized_change(statistic: Named, comparison: Comparison) -> float:
    tables = (comparison.original, comparison.masked)
    before, after = (_correlations(table, comparison.original) for table in tables)
    return _mean_change(before, after)


def _entry(square: pd.DataFrame, names: tuple[str, ...]) -> float:
    row, column = (square.columns.get_loc(name) for name in names)
    return float(square.to_numpy()[row, column])


def _first_share(correlations: NDArray[np.float64]) -> float:
    varied = ~np.isnan(np.diag(correlations))
    square = correlations[np.ix_(varied, varied)]
    if not len(square) or np.isnan(square).any():
        return float("nan")
    return float(np.linalg.eigvalsh(square)[-1] / len(square))


def _column(statistic: Named, comparison: Comparison) -> NDArray[np.float64]:
    values = numbers(comparison.original, comparison.masked, statistic.names[0])
    return values[~np.isnan(values)]


def _realized_mean(statistic: Named, comparison: Comparison) -> float:
    values = _column(statistic, comparison)
    return float(values.mean()) if len(values) else float("nan")


def _realized_sd(statistic: Named, comparison: Comparison) -> float:
    values = _column(statistic, comparison)
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _realized_correlation(statistic: Named, comparison: Comparison) -> float:
    pair = matrix(comparison.original, comparison.masked, statistic.names)
    return float(correlation_matrix(pair)[0, 1])


def _has(statistic: Named, comparison: Comparison) -> NDArray[np.bool_]:
    """Which masked records have the level of every variable."""
    chosen = np.ones(comparison.masked.n, dtype=bool)
    for name, level in zip(statistic.names, statistic.levels, strict=True):
        code, levels = codes(comparison.original, comparison.masked, name)
        chosen &= code == levels.index(level)
    return chosen


def _expected_subgroup(statistic: Named, forecast: Forecast, original: Microdata) -> float:
    row, column = _positions(statistic, original)
    return float(forecast.cross_tab(*statistic.names).to_numpy()[row, column])


def _expected_category(statistic: Named, forecast: Forecast, original: Microdata) -> float:
    (position,) = _positions(statistic, original)
    counts = forecast.category_counts.get(statistic.names[0])
    if counts is None:
        raise NotApplicable(f"{statistic.names[0]} has more levels than a forecast counts.")
    return float(counts.iloc[position]) / original.n


def _positions(statistic: Named, original: Microdata) -> list[int]:
    """The position of each level among its variable's; a level may be a number or a truth value."""
    pairs = zip(statistic.names, statistic.levels, strict=True)
    return [list(original.codes(name)[1]).index(level) for name, level in pairs]


def _kept(comparison: Comparison) -> NDArray[np.bool_]:
    """Which cells show their own value, shape (n, p)."""
    original, columns = comparison.original, []
    for variable in original.schema.released:
        name, graded = variable.name, variable.kind in (Kind.CATEGORICAL, Kind.ORDERED)
        before, after = (
            codes(original, table, name)[0] if graded else numbers(original, table, name)
            for table in (original, comparison.masked)
        )
        columns.append(~changed_cells(before, after))
    return np.column_stack(columns)


def _expected_fragments(_: Named, forecast: Forecast, __: Microdata) -> float:
    if np.isnan(forecast.true_fragments):
        raise NotApplicable(
            "True fragments are forecast where the key variables share a donor, for people who are "
            "alone with them."
        )
    return forecast.true_fragments


def _found(_: Named, comparison: Comparison) -> float:
    """Share of the people who are alone with their key values whose values appear together."""
    original = comparison.original
    names = keys_of_one_unit(original)
    lone = lone_people(original, names) if names else np.array([], dtype=np.int64)
    if not lone.size:
        return float("nan")
    own = np.column_stack([value_codes(original, name)[0] for name in names])[lone]
    released = np.column_stack([codes_like(original, comparison.masked, name) for name in names])
    shown = set(map(tuple, released.tolist()))
    return float(np.mean([tuple(values) in shown for values in own.tolist()]))


KINDS: Mapping[str, _Kind] = {
    "change": _Kind(
        words="mean |Δ correlation|",
        short="loss",
        expected=_expected_change,
        realized=_realized_change,
    ),
    "mean": _Kind(
        words="mean of {}",
        short="mean",
        expected=lambda statistic, forecast, _: forecast.means[statistic.names[0]],
        realized=_realized_mean,
        variables=1,
    ),
    "sd": _Kind(
        words="SD of {}",
        short="SD",
        expected=lambda statistic, forecast, _: np.sqrt(
            max(_entry(forecast.covariances, statistic.names * 2), 0.0)
        ),
        realized=_realized_sd,
        variables=1,
    ),
    "correlation": _Kind(
        words="correlation of {} and {}",
        short="correlation",
        expected=lambda statistic, forecast, _: _entry(forecast.correlations, statistic.names),
        realized=_realized_correlation,
        variables=2,
    ),
    "first_component": _Kind(
        words="share of variance of PC1",
        short="PC1 share",
        expected=lambda _, forecast, __: _first_share(forecast.correlations.to_numpy()),
        realized=lambda _, seen: _first_share(_correlations(seen.masked, seen.original)),
        share=True,
    ),
    "category": _Kind(
        words="share of {} = {}",
        short="share",
        expected=_expected_category,
        realized=lambda statistic, seen: float(_has(statistic, seen).mean()),
        variables=1,
        levels=1,
        share=True,
        label="share of a level of {}",
    ),
    "subgroup": _Kind(
        words="records with {0} = {2} and {1} = {3}",
        short="group size",
        expected=_expected_subgroup,
        realized=lambda statistic, seen: float(_has(statistic, seen).sum()),
        variables=2,
        levels=2,
        label="size of a subgroup of {} and {}",
    ),
    "cells": _Kind(
        words="share of intact cells",
        short="intact cells",
        expected=lambda _, forecast, original: float(
            forecast.cells_intact.sum() / (original.n * len(original.schema.released))
        ),
        realized=lambda _, seen: float(_kept(seen).mean()),
        share=True,
    ),
    "fragments": _Kind(
        words="true fragments: key values that appear together",
        short="true fragments",
        expected=_expected_fragments,
        realized=_found,
        share=True,
    ),
    "rows": _Kind(
        words="number of intact rows",
        short="intact rows",
        expected=lambda _, forecast, __: forecast.rows_intact,
        realized=lambda _, seen: float(_kept(seen).all(axis=1).sum()),
    ),
}
"""Every kind of statistic."""
