"""Single numbers that a forecast states and a release shows: one can be held against the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.comparison import Comparison
from rwn_core.correlations import correlation_matrix
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.forecast import Forecast
from rwn_core.measures.risk.cells_changed import changed_cells
from rwn_core.microdata import Microdata
from rwn_core.original_terms import codes, matrix, numbers
from rwn_core.schema import Kind

Z90 = 1.6448536269514722  # 9 of 10 normal draws lie within so many standard deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What to expect, and to look for in a release.

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
        """Refuse what nobody could expect."""
        if self.kind not in KINDS:
            raise ParameterError(f"kind must be one of: {', '.join(KINDS)}.")
        kind = KINDS[self.kind]
        if len(self.names) != kind.variables or len(self.levels) != kind.levels:
            raise ParameterError(
                f"A moment of kind {self.kind} needs {kind.variables} names and {kind.levels} "
                "levels."
            )

    @property
    def words(self) -> str:
        """What it is, to be read by a person."""
        parts = [*self.names, *map(str, self.levels)]
        return KINDS[self.kind].words.format(*parts)

    @property
    def label(self) -> str:
        """The same without the levels, for a choice."""
        return KINDS[self.kind].label.format(*self.names) or self.words

    @property
    def short(self) -> str:
        """What it is, in a word or two."""
        return KINDS[self.kind].short

    @property
    def share(self) -> bool:
        """Whether it is a share, from 0 to 1."""
        return KINDS[self.kind].share

    def expected(self, forecast: Forecast, original: Microdata) -> float:
        """What the setting leads to.

        Exact for means, categories, subgroups, cells and rows. What is made of covariances
        differs from the expectation over releases by a term of order 1/n.

        Raises
        ------
        NotApplicable
        """
        return _known(KINDS[self.kind].expected(self, forecast, original), self)

    def band(self, forecast: Forecast) -> tuple[float, float] | None:
        """Where 9 of 10 releases fall, in closed form; for means only.

        A mean of many independent cells is close to normal.
        """
        if self.kind != "mean":
            return None
        (name,) = self.names
        mean, spread = forecast.means[name], np.sqrt(forecast.mean_variances[name])
        return float(mean - Z90 * spread), float(mean + Z90 * spread)

    def realized(self, comparison: Comparison) -> float:
        """What the masked table shows.

        Raises
        ------
        NotApplicable
        """
        return _known(KINDS[self.kind].realized(self, comparison), self)


def moments_of(microdata: Microdata, one: str, other: str) -> tuple[Moment, ...]:
    """The moments that a table and two of its variables have.

    Parameters
    ----------
    microdata : Microdata
    one, other : str
        Released variables; the second plays a part in relations only.

    Returns
    -------
    tuple of Moment
        Of categories and subgroups the rarest levels.
    """
    found = [CHANGE, FIRST_COMPONENT] if len(microdata.numeric_names) > 1 else []
    numeric = [name in microdata.numeric_names for name in (one, other)]
    graded = [_graded(microdata, name) for name in (one, other)]
    if numeric[0]:
        found += [Moment(kind="mean", names=(one,)), Moment(kind="sd", names=(one,))]
    if all(numeric) and one != other:
        found.append(Moment(kind="correlation", names=(one, other)))
    if graded[0]:
        found.append(Moment(kind="category", names=(one,), levels=(rarest(microdata, one),)))
    if all(graded) and one != other:
        levels = (rarest(microdata, one), rarest(microdata, other))
        found.append(Moment(kind="subgroup", names=(one, other), levels=levels))
    return (*found, CELLS, ROWS)


def rarest(microdata: Microdata, name: str) -> Any:
    """The level of a categorical or ordered variable that the fewest records have, but some."""
    found, levels = microdata.codes(name)
    counts = np.bincount(found[found >= 0], minlength=len(levels))
    return levels[int(np.where(counts > 0, counts, microdata.n).argmin())]


def _graded(microdata: Microdata, name: str) -> bool:
    kind = microdata.schema.variable(name).kind
    return kind in (Kind.CATEGORICAL, Kind.ORDERED) and len(microdata.codes(name)[1]) > 0


def _known(value: float, moment: Moment) -> float:
    if not np.isfinite(value):
        raise NotApplicable(f"The {moment.words} has no value here.")
    return float(value)


# ---------------------------------------------------------------- what each kind is


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    words: str
    short: str
    expected: Callable[[Moment, Forecast, Microdata], float]
    realized: Callable[[Moment, Comparison], float]
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


def _expected_change(moment: Moment, forecast: Forecast, original: Microdata) -> float:
    before = original.once("moments.correlations", lambda: _correlations(original, original))
    return _mean_change(before, forecast.correlations.to_numpy())


def _realized_change(moment: Moment, comparison: Comparison) -> float:
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


def _column(moment: Moment, comparison: Comparison) -> NDArray[np.float64]:
    values = numbers(comparison.original, comparison.masked, moment.names[0])
    return values[~np.isnan(values)]


def _realized_mean(moment: Moment, comparison: Comparison) -> float:
    values = _column(moment, comparison)
    return float(values.mean()) if len(values) else float("nan")


def _realized_sd(moment: Moment, comparison: Comparison) -> float:
    values = _column(moment, comparison)
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _realized_correlation(moment: Moment, comparison: Comparison) -> float:
    pair = matrix(comparison.original, comparison.masked, moment.names)
    return float(correlation_matrix(pair)[0, 1])


def _has(moment: Moment, comparison: Comparison) -> NDArray[np.bool_]:
    """Which masked records have the level of every variable."""
    found = np.ones(comparison.masked.n, dtype=bool)
    for name, level in zip(moment.names, moment.levels, strict=True):
        code, levels = codes(comparison.original, comparison.masked, name)
        found &= code == levels.index(level)
    return found


def _expected_subgroup(moment: Moment, forecast: Forecast, original: Microdata) -> float:
    row, column = _places(moment, original)
    return float(forecast.cross_tab(*moment.names).to_numpy()[row, column])


def _expected_category(moment: Moment, forecast: Forecast, original: Microdata) -> float:
    (place,) = _places(moment, original)
    counts = forecast.category_counts.get(moment.names[0])
    if counts is None:
        raise NotApplicable(f"{moment.names[0]} has more levels than a forecast counts.")
    return float(counts.iloc[place]) / original.n


def _places(moment: Moment, original: Microdata) -> list[int]:
    """The place of each level among its variable's; a level may be a number or a truth value."""
    pairs = zip(moment.names, moment.levels, strict=True)
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
        expected=lambda moment, forecast, _: forecast.means[moment.names[0]],
        realized=_realized_mean,
        variables=1,
    ),
    "sd": _Kind(
        words="SD of {}",
        short="SD",
        expected=lambda moment, forecast, _: np.sqrt(
            max(_entry(forecast.covariances, moment.names * 2), 0.0)
        ),
        realized=_realized_sd,
        variables=1,
    ),
    "correlation": _Kind(
        words="correlation of {} and {}",
        short="correlation",
        expected=lambda moment, forecast, _: _entry(forecast.correlations, moment.names),
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
        realized=lambda moment, seen: float(_has(moment, seen).mean()),
        variables=1,
        levels=1,
        share=True,
        label="share of a level of {}",
    ),
    "subgroup": _Kind(
        words="records with {0} = {2} and {1} = {3}",
        short="group size",
        expected=_expected_subgroup,
        realized=lambda moment, seen: float(_has(moment, seen).sum()),
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
    "rows": _Kind(
        words="number of intact rows",
        short="intact rows",
        expected=lambda _, forecast, __: forecast.rows_intact,
        realized=lambda _, seen: float(_kept(seen).all(axis=1).sum()),
    ),
}
"""Every kind of moment."""

CHANGE = Moment(kind="change")
FIRST_COMPONENT = Moment(kind="first_component")
CELLS = Moment(kind="cells")
ROWS = Moment(kind="rows")
