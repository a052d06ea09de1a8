"""Single numbers that a forecast states and a release shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata, codes_like, value_codes
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast.columns import keys_of_one_unit, sample_uniques
from rwn_core.evaluation.forecast.forecast import Forecast
from rwn_core.measures.comparison import Comparison, codes, matrix, numbers
from rwn_core.measures.risk.nearness import changed_cells
from rwn_core.measures.statistics.association import correlation_matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    words: str
    short: str
    expected: Callable[[Statistic, Forecast, Microdata], float]
    realized: Callable[[Statistic, Comparison], float]
    variables: int = 0
    levels: int = 0
    share: bool = False
    label: str = ""


def _mean_change(before: Floats, after: Floats) -> float:
    # Shapes: before, after (v, v).
    first, second = np.triu_indices(len(before), 1)
    change = np.abs(after - before)[first, second]
    defined = ~np.isnan(change)
    if not defined.any():
        raise NotApplicable("No pair of numeric variables varies.")
    return float(change[defined].mean())


def _correlations(table: Microdata, original: Microdata) -> Floats:
    # Shapes: the answer (v, v), of the v numeric variables.
    return correlation_matrix(matrix(original, table, original.numeric_names))


def _expected_change(statistic: Statistic, forecast: Forecast, original: Microdata) -> float:
    before = original.cached("statistics.correlations", lambda: _correlations(original, original))
    return _mean_change(before, forecast.correlations.to_numpy())


def _realized_change(statistic: Statistic, comparison: Comparison) -> float:
    tables = (comparison.original, comparison.masked)
    before, after = (_correlations(table, comparison.original) for table in tables)
    return _mean_change(before, after)


def _entry(square: pd.DataFrame, names: tuple[str, ...]) -> float:
    row, column = (square.columns.get_loc(name) for name in names)
    return float(square.to_numpy()[row, column])


def _first_share(correlations: Floats) -> float:
    varied = ~np.isnan(np.diag(correlations))
    square = correlations[np.ix_(varied, varied)]
    if not len(square) or np.isnan(square).any():
        return float("nan")
    return float(np.linalg.eigvalsh(square)[-1] / len(square))


def _of_column(
    compute: Callable[[Floats], np.float64], least: int
) -> Callable[[Statistic, Comparison], float]:
    """Return what computes a number of a released variable, of at least so many known values."""
    # Shapes: compute takes the known values, (m,).

    def realized(statistic: Statistic, comparison: Comparison) -> float:
        values = numbers(comparison.original, comparison.masked, statistic.names[0])
        values = values[~np.isnan(values)]
        return float(compute(values)) if len(values) >= least else float("nan")

    return realized


def _realized_correlation(statistic: Statistic, comparison: Comparison) -> float:
    pair = matrix(comparison.original, comparison.masked, statistic.names)
    return float(correlation_matrix(pair)[0, 1])


def _has(statistic: Statistic, comparison: Comparison) -> Booleans:
    """Which masked records have the level of every variable."""
    chosen = np.ones(comparison.masked.n, dtype=bool)
    for name, level in zip(statistic.names, statistic.levels, strict=True):
        code, levels = codes(comparison.original, comparison.masked, name)
        chosen &= code == levels.index(level)
    return chosen


def _expected_category(statistic: Statistic, forecast: Forecast, original: Microdata) -> float:
    (position,) = _positions(statistic, original)
    counts = forecast.category_counts.get(statistic.names[0])
    if counts is None:
        raise NotApplicable(f"{statistic.names[0]} has more levels than a forecast counts.")
    return float(counts.iloc[position]) / original.n


def _positions(statistic: Statistic, original: Microdata) -> list[int]:
    """The position of each level among its variable's; a level may be a number or a truth value."""
    pairs = zip(statistic.names, statistic.levels, strict=True)
    return [list(original.codes(name)[1]).index(level) for name, level in pairs]


def _own_values_shown(comparison: Comparison) -> Booleans:
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


def _expected_fragments(_: Statistic, forecast: Forecast, __: Microdata) -> float:
    if np.isnan(forecast.true_fragments):
        raise NotApplicable(
            "True fragments are forecast if the key variables share a donor, for people whose "
            "combination of them is unique."
        )
    return forecast.true_fragments


def _found(_: Statistic, comparison: Comparison) -> float:
    """Share of the sample uniques with key values that appear together in the release."""
    original = comparison.original
    names = keys_of_one_unit(original)
    uniques = sample_uniques(original, names) if names else np.array([], dtype=np.int64)
    if not uniques.size:
        return float("nan")
    own = np.column_stack([value_codes(original, name)[0] for name in names])[uniques]
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
        realized=_of_column(np.mean, 1),
        variables=1,
    ),
    "sd": _Kind(
        words="SD of {}",
        short="SD",
        expected=lambda statistic, forecast, _: np.sqrt(
            max(_entry(forecast.covariances, statistic.names * 2), 0.0)
        ),
        realized=_of_column(lambda values: values.std(ddof=1), 2),
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
        expected=lambda statistic, forecast, original: float(
            forecast.cross_tab(*statistic.names).to_numpy()[tuple(_positions(statistic, original))]
        ),
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
        realized=lambda _, seen: float(_own_values_shown(seen).mean()),
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
        realized=lambda _, seen: float(_own_values_shown(seen).all(axis=1).sum()),
    ),
}
"""Every kind of statistic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """Say what to expect, and to look for, in a release.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    names : tuple of str
        The variables that it is of.
    levels : tuple
        Of a category or subgroup: the level of each variable.

    Raises
    ------
    ParameterError
        The kind is unknown, or wants another number of names or levels.
    """

    kind: str
    names: tuple[str, ...] = ()
    levels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Check kind, names and levels."""
        if self.kind not in KINDS:
            raise ParameterError(f"kind must be one of: {', '.join(KINDS)}.")
        kind = KINDS[self.kind]
        if len(self.names) != kind.variables or len(self.levels) != kind.levels:
            raise ParameterError(
                f"A statistic of kind {self.kind} needs {kind.variables} names and {kind.levels} "
                "levels."
            )

    @property
    def words(self) -> str:
        """The statistic in words."""
        parts = [*self.names, *map(str, self.levels)]
        return KINDS[self.kind].words.format(*parts)

    @property
    def label(self) -> str:
        """The same without the levels, for a choice."""
        return KINDS[self.kind].label.format(*self.names) or self.words

    @property
    def short(self) -> str:
        """A word or two for the statistic."""
        return KINDS[self.kind].short

    @property
    def share(self) -> bool:
        """True if it is a share, from 0 to 1."""
        return KINDS[self.kind].share

    def expected(self, forecast: Forecast, original: Microdata) -> float:
        """Return the expectation under the setting; raises NotApplicable.

        Exact for categories, subgroups, cells, rows, true fragments and means of variables without
        missing values. Means of others, and what is made of covariances, differ by a term of order
        1/n.
        """
        return _known(KINDS[self.kind].expected(self, forecast, original), self)

    def realized(self, comparison: Comparison) -> float:
        """Return the statistic of the masked table; raises NotApplicable."""
        return _known(KINDS[self.kind].realized(self, comparison), self)


def available_statistics(microdata: Microdata, one: str, other: str) -> tuple[Statistic, ...]:
    """The statistics that a table and two of its variables have."""
    result = [CHANGE, FIRST_COMPONENT] if len(microdata.numeric_names) > 1 else []
    numeric = [name in microdata.numeric_names for name in (one, other)]
    graded = [
        microdata.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED)
        and len(microdata.codes(name)[1]) > 0
        for name in (one, other)
    ]
    if numeric[0]:
        result += [Statistic(kind="mean", names=(one,)), Statistic(kind="sd", names=(one,))]
    if all(numeric) and one != other:
        result.append(Statistic(kind="correlation", names=(one, other)))
    if graded[0]:
        result.append(Statistic(kind="category", names=(one,), levels=(rarest(microdata, one),)))
    if all(graded) and one != other:
        levels = (rarest(microdata, one), rarest(microdata, other))
        result.append(Statistic(kind="subgroup", names=(one, other), levels=levels))
    names = keys_of_one_unit(microdata)
    if names and sample_uniques(microdata, names).size:
        result.append(FRAGMENTS)
    return (*result, CELLS, ROWS)


def rarest(microdata: Microdata, name: str) -> Any:
    """The level of a categorical or ordered variable that the fewest records have, but some."""
    codes, levels = microdata.codes(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return levels[int(np.where(counts > 0, counts, microdata.n).argmin())]


def _known(value: float, statistic: Statistic) -> float:
    if not np.isfinite(value):
        raise NotApplicable(f"The {statistic.words} has no value here.")
    return float(value)


CHANGE = Statistic(kind="change")
FIRST_COMPONENT = Statistic(kind="first_component")
CELLS = Statistic(kind="cells")
FRAGMENTS = Statistic(kind="fragments")
ROWS = Statistic(kind="rows")
