"""Single numbers that a forecast states and a release shows: one can be held against the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast.columns import keys_of_one_unit, lone_people
from rwn_core.evaluation.forecast.forecast import Forecast
from rwn_core.evaluation.forecast.statistic_kinds import KINDS
from rwn_core.measures.comparison import Comparison

__all__ = [
    "CELLS",
    "CHANGE",
    "FIRST_COMPONENT",
    "FRAGMENTS",
    "KINDS",
    "ROWS",
    "Statistic",
    "rarest",
    "statistics_of",
]

Z90 = 1.6448536269514722  # 9 of 10 normal draws lie within so many standard deviations
SKEWED = 1.0  # skewness of a mean beyond which it has no normal band
PEAKED, FLAT = 1.0, -0.4  # excess kurtosis, the same


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
        """Refuse what nobody could expect."""
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

        Exact for categories, subgroups, cells, rows, true fragments and means (above 2,000
        records only of variables without missing values). What is made of covariances differs
        from the expectation over releases by a term of order 1/n.

        Raises
        ------
        NotApplicable
        """
        return _known(KINDS[self.kind].expected(self, forecast, original), self)

    def band(self, forecast: Forecast) -> tuple[float, float] | None:
        """Where 9 of 10 releases fall, in closed form; for means only.

        A mean of many independent cells is close to normal, unless a few values carry most of
        its variance: then there is no band. Where values are missing, its variance is known up
        to a term of order 1/n.
        """
        if self.kind != "mean" or self.few_decide(forecast):
            return None
        (name,) = self.names
        mean, spread = forecast.means[name], np.sqrt(forecast.mean_variances[name])
        return float(mean - Z90 * spread), float(mean + Z90 * spread)

    def few_decide(self, forecast: Forecast) -> bool:
        """True if a few values carry the variance of a mean, so that it is not near normal."""
        if self.kind != "mean":
            return False
        (name,) = self.names
        excess = float(forecast.mean_excess[name])
        return abs(forecast.mean_skewness[name]) > SKEWED or not FLAT < excess < PEAKED

    def realized(self, comparison: Comparison) -> float:
        """What the masked table shows.

        Raises
        ------
        NotApplicable
        """
        return _known(KINDS[self.kind].realized(self, comparison), self)


def statistics_of(microdata: Microdata, one: str, other: str) -> tuple[Statistic, ...]:
    """The statistics that a table and two of its variables have.

    Parameters
    ----------
    microdata : Microdata
    one, other : str
        Released variables; the second plays a part in relations only.

    Returns
    -------
    tuple of Statistic
        Of categories and subgroups the rarest levels.
    """
    result = [CHANGE, FIRST_COMPONENT] if len(microdata.numeric_names) > 1 else []
    numeric = [name in microdata.numeric_names for name in (one, other)]
    graded = [_graded(microdata, name) for name in (one, other)]
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
    if names and lone_people(microdata, names).size:
        result.append(FRAGMENTS)
    return (*result, CELLS, ROWS)


def rarest(microdata: Microdata, name: str) -> Any:
    """The level of a categorical or ordered variable that the fewest records have, but some."""
    codes, levels = microdata.codes(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return levels[int(np.where(counts > 0, counts, microdata.n).argmin())]


def _graded(microdata: Microdata, name: str) -> bool:
    kind = microdata.schema.variable(name).kind
    return kind in (Kind.CATEGORICAL, Kind.ORDERED) and len(microdata.codes(name)[1]) > 0


def _known(value: float, statistic: Statistic) -> float:
    if not np.isfinite(value):
        raise NotApplicable(f"The {statistic.words} has no value here.")
    return float(value)


CHANGE = Statistic(kind="change")
FIRST_COMPONENT = Statistic(kind="first_component")
CELLS = Statistic(kind="cells")
FRAGMENTS = Statistic(kind="fragments")
ROWS = Statistic(kind="rows")
