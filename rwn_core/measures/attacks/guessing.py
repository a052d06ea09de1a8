"""Attacks that guess from the release alone, on people in the file and on a control group.

The three questions are those of the Article 29 Working Party's Opinion 05/2014 (WP216): singling
out, linkability, inference. A success rate is corrected for successes without the file as a death
rate is for natural deaths (Abbott 1925). Prior work on the same questions: Giomi et al. 2023 and
their package anonymeter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.units import unit_of
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, empty_records, released_rows
from rwn_core.measures.measure import Detail, Reading
from rwn_core.measures.statistics.intervals import (
    excess_interval,
    excess_risk,
    wilson,
    wilson_interval,
)
from rwn_core.measures.statistics.nearest_points import (
    contiguous_rows,
    original_points,
    released_points,
    unweighted_metric,
)
from rwn_core.neighbors.distance import TIE, Points, some_columns, squared_between

ATTACKS = 500
_SEED = 2023


def canonical_sample(
    table: Microdata, most: int = ATTACKS, units: Integers | None = None
) -> Integers:
    """Return random records, the same in any order of the rows; of a unit, all or none.

    Parameters
    ----------
    table : Microdata
    most : int
        Records at most; where units are given, about as many.
    units : array of shape (n,), optional
        The number of each record's unit.

    Returns
    -------
    array of shape (c,)
        All records in an order of their values if there are at most as many.
    """
    names = [variable.name for variable in table.schema.released]
    frame = table.frame
    order = np.lexsort([_numbered(frame[name]) for name in names[::-1]])
    if len(order) <= most:
        return order
    draw = np.random.default_rng(_SEED)
    if units is None:
        return order[np.sort(draw.choice(len(order), most, replace=False))]
    own = units[order]
    first = np.sort(np.unique(own, return_index=True)[1])  # of each unit, shape (u,)
    some = draw.permutation(first)[: max(1, most * len(first) // len(order))]
    return order[np.isin(own, own[some])]


def _numbered(column: pd.Series) -> Floats | Integers:
    """Return numbers in the order of the values, shape (n,); missing comes first."""
    values = column.to_numpy()
    if values.dtype != np.float64:  # of texts, categories, dates and numbers with a mark of missing
        ranks = column.rank(method="dense", na_option="top")
        return np.asarray(ranks, dtype=np.float64)
    known = ~np.isnan(values)
    if known.all():
        return values
    place = np.zeros(len(values), dtype=np.int64)
    place[known] = 1 + np.unique(values[known], return_inverse=True)[1]
    return place


def attacked_people(comparison: Comparison, most: int = ATTACKS) -> Integers:
    """Return random people with a released row, the same in any order of the rows."""
    # no attack names the value of a person without a released row
    rows = released_rows(comparison.original, comparison.masked)
    original = comparison.original
    units = comparison.units
    if units is None and (comparison.masked.n != original.n or len(rows) == original.n):
        about = ("attacked people", most)
        return comparison.cached_for_original(about, partial(canonical_sample, original, most))
    return rows[canonical_sample(original.take(rows), most, None if units is None else units[rows])]


class Closest:
    """The released rows nearest to some people by some variables, among all rows or `rows`."""

    def __init__(
        self, comparison: Comparison, names: Sequence[str], rows: Integers | None = None
    ) -> None:
        metric = unweighted_metric(comparison)
        columns = metric.variable_columns(names)
        if not columns:
            raise NotApplicable(
                "None of these variables varies in the original, so there is no distance between "
                "records."
            )
        self.metric = metric.restricted_to(names)
        self._original = comparison.original
        self.original = comparison.cached_for_original(
            ("closest by", *names), partial(some_columns, original_points(comparison), columns)
        )
        present = ~empty_records(comparison.masked, names)
        if not present.any():
            raise NotApplicable("The release has no values of these variables.")
        chosen = np.arange(len(present)) if rows is None else np.sort(rows)
        self.rows = chosen[present[chosen]]
        self.released = some_columns(released_points(comparison), columns)[self.rows]

    def people(self, table: Microdata) -> Points:
        """Return records of the original, or of a control group, as points."""
        if table is self._original:
            return self.original
        return contiguous_rows(self.metric.coded(table))

    def ties(self, points: Points) -> Booleans:
        """The marks of the released rows nearest to each person, shape (m, rows)."""
        squared = squared_between(points, self.released)
        return np.asarray(squared <= tied_with(squared.min(axis=1, keepdims=True)))


def tied_with(least: Floats) -> Floats:
    """Return the largest squared distances that count as equal to some, of any shape."""
    return least * (1 + TIE) + 1e-18


def some_people(table: Microdata, most: int = ATTACKS) -> Microdata:
    """Return random people of a table with all of their rows, about `most` records."""
    unit = unit_of(table)
    return table.take(canonical_sample(table, most, None if unit is None else unit.numbers))


def control_sample(comparison: Comparison) -> Microdata | None:
    """Return people of the control group, at most as many as are attacked; None without one."""
    holdout = comparison.holdout
    return None if holdout is None else some_people(holdout)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guesses(Detail):
    """The details of an attack that guesses from the release alone.

    Attributes
    ----------
    attack, control, guess : float
        Share of the attacks that are right, of those on people outside the file (None without a
        control group), and of guesses without the release.
    attacks, controls : int
        How many people, or conditions, were attacked in the file, and outside of it.
    void : bool
        Whether the attack is no better than a guess.
    tried, rows : int
        Of singling out: sets of conditions that were tried, and of how many released rows.
    ended : {"", "narrow", "rows", "work"}
        Why it ended: the interval was narrow, no row was left, or it took too long.
    parts : tuple of list of str
        Of linkability: the two halves of the variables.
    stated : bool
        Whether these were stated.
    unit_words : str
        What all rows of one attack are of; empty where each row is one.
    secret : str
        Of inference: the confidential variable.
    """

    attack: float
    control: float | None
    guess: float
    attacks: int
    controls: int | None
    void: bool
    tried: int = 0
    rows: int = 0
    ended: str = ""
    parts: tuple[list[str], ...] = ()
    stated: bool = False
    unit_words: str = ""
    secret: str = ""


class GuessDetail(TypedDict, total=False):
    """A way in which an attack has guessed: parts of `Guesses`."""

    tried: int
    rows: int
    ended: str
    parts: tuple[list[str], ...]
    stated: bool
    unit_words: str
    secret: str


def guess_reading(
    rates: tuple[float, int],
    control: tuple[float, int] | None,
    baseline: float,
    *,
    wider: float = 1.0,
    **detail: Unpack[GuessDetail],
) -> Reading[Guesses]:
    """Return the risk beyond the control group (or the guess), with its 95 % interval."""
    # rates are (successes, attacks); `wider` widens the control's interval
    attack, error = map(float, wilson(*rates))
    rate = rates[0] / rates[1]
    ends = wilson_interval(*rates)
    reference = baseline
    other = None
    others = (baseline, baseline, baseline)
    if control is not None:
        reference, half = map(float, wilson(*control))
        half = half if wider == 1.0 else wider * max(half, error)
        other, low, high = control[0] / control[1], reference - half, reference + half
        others = other, min(max(0.0, low), other), max(min(1.0, high), other)
    low, high = excess_interval((rate, *ends), others)
    least = max(0.0, low)
    most = min(1.0, max(0.0, high))
    return Reading(
        value=float(np.clip(excess_risk(attack, reference), least, most)),
        baseline=0.0,
        interval=(float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))),
        detail=Guesses(
            attack=rate,
            control=other,
            guess=baseline,
            attacks=rates[1],
            controls=None if control is None else control[1],
            void=bool(rate <= baseline),
            **detail,
        ),
    )
