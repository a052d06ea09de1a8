"""The law of changed categories: a value is kept, or drawn from a pool of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together, value_codes
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import released_schema
from rwn_core.laws.moments import Moments, numbers_among
from rwn_core.laws.transition_matrix import invariant, privacy_epsilon
from rwn_core.laws.unit_law import FROM_FILE, STILL_MISSING, Privacy, UnitLaw

AT_ONCE = 4_000_000  # entries of a matrix that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Redraw:
    """The redrawing of a record's value: it is kept, or taken from one of a few pools.

    P(record i releases v) = keep_i [v = own_i] + sum over r of weights_ir pools_rv.
    """

    # shape (n,): may be a little below 0 where the pool has the own value too
    keep: Floats
    weights: sparse.csr_array  # shape (n, r)
    pools: Floats  # shape (r, V): rows sum to 1

    def matrix(self, own: Integers, values: Integers) -> Floats:
        """T over some values, from one record of each, shape (len(values), len(values))."""
        first = np.zeros(self.pools.shape[1], dtype=np.int64)
        first[own] = np.arange(len(own))
        rows = first[values]
        taken = np.asarray(self.weights[rows] @ self.pools[:, values])
        return taken + np.diag(self.keep[rows])

    def drawn(self, own: Integers, uniform: Floats) -> Integers:
        """Draw each record's value by itself, shape (n,)."""
        starts = self.weights.indptr
        left = uniform[0] - self.keep
        ends = np.cumsum(self.weights.data)
        entry = np.searchsorted(ends, np.concatenate(([0.0], ends))[starts[:-1]] + left)
        drawn = own.copy()
        changed = np.flatnonzero((left >= 0) & (np.diff(starts) > 0))
        pool = self.weights.indices[np.clip(entry, starts[:-1], starts[1:] - 1)[changed]]
        order = np.argsort(pool, kind="stable")
        for some in np.split(changed[order], np.flatnonzero(np.diff(pool[order])) + 1):
            if some.size:
                row = self.pools[pool[np.searchsorted(changed, some[0])]]
                values = np.flatnonzero(row)
                reach = np.searchsorted(np.cumsum(row[values]), uniform[1][some])
                drawn[some] = values[np.minimum(reach, len(values) - 1)]
        return drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class Transition(UnitLaw):
    """The law of one unit that changes by a transition matrix.

    Where records exchange values, a release has as many of each as the original.
    """

    unit: tuple[str, ...]  # the variables; their values together have the numbers 0 to V - 1
    choice: Redraw  # of those numbers
    by_value: bool = True  # whether records with one value change by one law
    # whether levels and matrix are stated by a person, and no record is the only one of its level:
    # then every table that differs in one record has the same matrix
    declared: bool = False

    def __post_init__(self) -> None:
        """Take all variables, unless some are named."""
        object.__setattr__(self, "names", self.names or self.unit)

    @cached_property
    def _own(self) -> Integers:
        """The number of each record's values, shape (n,)."""
        return value_numbers(self.original, self.unit)

    @cached_property
    def _shown(self) -> tuple[Integers, Floats]:
        """Each record's number as it is written, and the pools of those numbers."""
        # Shapes: (n,) and (r, V).
        shown = value_numbers(self._written, self.names)
        values = self.choice.pools.shape[1]
        of_value = np.zeros(values, dtype=np.int64)
        of_value[self._own] = shown  # every value with a chance occurs in a record
        together = sparse.csr_array((np.ones(values), (np.arange(values), of_value)))
        return shown, np.asarray(self.choice.pools @ together)

    @cached_property
    def retained(self) -> Floats:
        """P(no value changes), shape (n,)."""
        shown, pools = self._shown
        weights = self.choice.weights
        record = np.repeat(np.arange(len(shown)), np.diff(weights.indptr))
        chance = weights.data * pools[weights.indices, shown[record]]
        again = np.bincount(record, chance, len(shown))
        return np.asarray(np.clip(self.choice.keep + again, 0.0, 1.0))

    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """P(each person releases the rows' values); see `UnitLaw`."""
        shown, pools = self._shown
        released = codes_together(self._written, masked, self.names, rows)[1]
        keep, weights = self.choice.keep, self.choice.weights
        known = np.ones(len(shown), dtype=bool)
        if people is not None:  # a record with each person's values, where there is one
            if not self.by_value:
                raise NotApplicable("What others release depends on more than their own values.")
            own, theirs = codes_together(self.original, people, self.unit, np.arange(people.n))
            first = np.zeros(int(own.max()) + 1, dtype=np.int64)
            known = theirs >= 0
            first[own] = np.arange(len(own))
            like = first[np.maximum(theirs, 0)]
            keep = keep[like]
            weights = weights[like]
            shown = shown[like]
        taken = np.asarray(weights @ pools[:, np.maximum(released, 0)]).T
        likely = taken + keep * (released[:, np.newaxis] == shown)
        return np.where((released >= 0)[:, np.newaxis] & known, np.maximum(likely, 0.0), 0.0)

    def moments(self) -> Moments:
        """Kept numbers and those of the pools; sums are certain where records exchange."""
        names = numbers_among(self.original, self.names)
        own = self._written.matrix(names)
        center = np.nanmean(np.where(np.isnan(own).all(axis=0), 0.0, own), axis=0)
        x = np.nan_to_num(own - center)
        keep = self.choice.keep[:, None]
        weights = self.choice.weights
        pools = self.choice.pools
        values = np.zeros((pools.shape[1], len(names)))
        values[self._own] = x
        mean = keep * x + weights @ (pools @ values)
        squares = keep * x**2 + weights @ (pools @ values**2)
        drawn = np.asarray(weights.sum(axis=0)).ravel() @ pools
        products = (keep * x).T @ x + (drawn[:, np.newaxis] * values).T @ values
        together = products - mean.T @ mean
        return Moments(
            names=names,
            means=np.where(np.isnan(own), np.nan, center + mean),
            variances=np.maximum(squares - mean**2, 0.0),
            together=together,
            totals=np.zeros_like(together) if self.keeps_value_counts else together,
        )

    def table(self) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value is released for each record); see `UnitLaw`."""
        if len(self.names) > 1:
            raise NotApplicable("This is for a method that changes each variable by itself.")
        values = value_codes(self._written, self.names[0])[1]
        shown, pools = self._shown
        n = len(shown)
        more = len(values) - pools.shape[1]
        if n * pools.shape[1] > LISTED_PAIRS:
            raise NotApplicable(f"At most {LISTED_PAIRS:,} chances of values are listed.")
        own = sparse.csr_array((self.choice.keep, shown, np.arange(n + 1)), shape=(n, len(values)))
        wide = np.pad(pools, ((0, 0), (0, more)))
        table = sparse.csr_array(self.choice.weights @ sparse.csr_array(wide) + own)
        table.data = np.clip(table.data, 0.0, 1.0)
        return table, values

    @cached_property
    def privacy(self) -> Privacy:
        """The epsilon of a declared matrix, as long as no entry is 0; see `UnitLaw`."""
        if self.original.frame[list(self.unit)].isna().to_numpy().any(axis=1).any():
            return STILL_MISSING
        if self.keeps_value_counts:
            return Privacy(np.inf, "keeps the count of every value, which one person changes")
        if not self.declared:
            return FROM_FILE
        epsilon = self.row_epsilon()
        if np.isinf(epsilon):
            return Privacy(epsilon, "has values that some records cannot release")
        return Privacy(epsilon, "may become any of its values, whatever it was")

    def row_epsilon(self) -> float:
        """The epsilon of the matrix, for an intruder who sees one row and no others."""
        own, choice = self._own, self.choice
        some, first = np.unique(own, return_index=True)
        if not self.by_value:
            first = np.arange(len(own))
        worst = 0.0
        step = max(1, AT_ONCE // len(first))
        for start in range(0, len(some), step):
            values = some[start : start + step]
            rows = np.asarray(choice.weights[first] @ choice.pools[:, values])
            rows += choice.keep[first, np.newaxis] * (own[first, np.newaxis] == values)
            worst = max(worst, privacy_epsilon(np.maximum(rows, 0.0))[0])
        return worst


def value_numbers(microdata: Microdata, names: tuple[str, ...]) -> Integers:
    """The values of some variables together as numbers from 0, shape (n,)."""
    return codes_together(microdata, microdata, names, np.empty(0, np.int64))[0]


def one_pool(share: float, own: Integers, changing: Booleans) -> Redraw:
    """T = (1 - c) I + c 1 v' of some records, v being their shares of the values."""
    n = len(own)
    some = np.flatnonzero(changing)
    counts = np.bincount(own[some], minlength=int(own.max()) + 1)
    starts = np.concatenate(([0], np.cumsum(changing)))
    weights = (np.full(len(some), float(share)), np.zeros(len(some), dtype=np.int64), starts)
    return Redraw(
        keep=np.where(changing, 1.0 - share, 1.0),
        weights=sparse.csr_array(weights, shape=(n, 1)),
        pools=counts[np.newaxis] / max(len(some), 1),
    )


class Levels(NamedTuple):
    """The levels of a variable that occur."""

    # shape (n,): each record's value as a number; those that are no level stay as they are
    own: Integers
    codes: Integers  # shape (K,): the numbers of the levels, ascending
    counts: Integers  # shape (K,)

    @property
    def shares(self) -> Floats:
        """v, shape (K,)."""
        return self.counts / max(int(self.counts.sum()), 1)


def chosen_by(levels: Levels, matrix: Floats, second_stage: bool, alpha: float) -> Redraw:
    """The choice under a given matrix."""
    # Shapes: matrix (K, K).
    full = invariant(matrix, levels.shares) if second_stage else matrix
    count = len(levels.codes)
    return _choice(levels, np.full(count, 1 - alpha), alpha * np.eye(count), full)


def chosen_anew(
    levels: Levels, change: float, spread: str, second_stage: bool, alpha: float
) -> Redraw:
    """The choice where a value is redrawn with a probability: no large matrix is needed."""
    v = levels.shares
    count = len(levels.codes)
    if not count or not change:
        return _choice(levels, np.ones(count), np.zeros((count, 1)), np.zeros((1, count)))
    even = np.full(count, 1 / count)
    if spread == "margins" or not second_stage:
        drawn = np.full(count, alpha * change)
        pool = v if spread == "margins" else even
        return _choice(levels, 1 - drawn, drawn[:, None], pool[None])
    a, u = 1 - change, change / count
    m = a * v + u
    back = v / m
    pools = np.array([v, back / back.sum()])
    to_shares = a * u / m + u**2 * (1 / m).sum()
    weights = alpha * np.column_stack((to_shares, np.full(count, a * u * back.sum())))
    return _choice(levels, 1 - alpha + alpha * a**2 * back, weights, pools)


def within_strata(levels: Levels, strata: Integers, choose: Callable[[Levels], Redraw]) -> Redraw:
    """The choice where the records of each stratum have levels and shares of their own."""
    n = len(levels.own)
    wide = int(levels.own.max()) + 1
    keep = np.ones(n)
    pools = []
    parts = []
    for stratum in range(int(strata.max()) + 1):
        members = np.flatnonzero(strata == stratum)
        own = levels.own[members]
        counts = np.bincount(own, minlength=wide)[levels.codes]
        some = counts > 0
        choice = choose(Levels(own=own, codes=levels.codes[some], counts=counts[some]))
        keep[members] = choice.keep
        places = (np.ones(len(members)), (members, np.arange(len(members))))
        parts.append(sparse.csr_array(places, shape=(n, len(members))) @ choice.weights)
        pools.append(np.pad(choice.pools, ((0, 0), (0, wide - choice.pools.shape[1]))))
    weights = sparse.csr_array(sparse.hstack(parts, format="csr"))
    return Redraw(keep=keep, weights=weights, pools=np.vstack(pools))


def _choice(levels: Levels, keep: Floats, weights: Floats, pools: Floats) -> Redraw:
    """The choice of every record from that of every level."""
    # the records that have a level, and which of them, from 0 to K - 1
    n = len(levels.own)
    changing = np.flatnonzero(np.isin(levels.own, levels.codes))
    places = np.searchsorted(levels.codes, levels.own[changing])
    own_keep = np.ones(n)
    shape = (n, max(len(levels.codes), 1))
    own_keep[changing] = keep[places]
    picks = sparse.csr_array((np.ones(len(places)), (changing, places)), shape=shape)
    by_level = sparse.csr_array(weights if len(levels.codes) else (1, 1))
    wide = np.zeros((len(pools), int(levels.own.max()) + 1))
    wide[:, levels.codes] = pools
    return Redraw(keep=own_keep, weights=sparse.csr_array(picks @ by_level), pools=wide)


def is_discrete(microdata: Microdata, name: str) -> bool:
    """True if a variable holds integers only, by its kind or by its type."""
    if microdata.schema.variable(name).kind is Kind.COUNT:
        return True
    return bool(pd.api.types.is_integer_dtype(microdata.frame[name].dtype))


def with_numbers(microdata: Microdata, columns: Mapping[str, Floats]) -> Microdata:
    """The released table with other numbers in some variables."""
    # Shape: each of columns (n,).
    frame = {
        variable.name: microdata.frame[variable.name] for variable in microdata.schema.released
    }
    for name, numbers in columns.items():
        frame[name] = _written(frame[name], numbers, discrete=is_discrete(microdata, name))
    return Microdata(pd.DataFrame(frame), released_schema(microdata.schema))


def _written(own: Any, numbers: Floats, *, discrete: bool) -> Any:
    # Shape: numbers (n,).
    missing = own.isna().to_numpy()
    values = np.where(missing, np.nan, np.rint(numbers) if discrete else numbers)
    if not pd.api.types.is_integer_dtype(own.dtype):
        return pd.Series(values, index=own.index).astype(own.dtype)
    plain = getattr(own.dtype, "numpy_dtype", own.dtype)
    ends = np.iinfo(plain)
    known = values[~missing]
    fits = not known.size or (ends.min <= known.min() and known.max() <= ends.max)
    nullable = not isinstance(own.dtype, np.dtype)
    if nullable or missing.any():
        result = pd.array(np.where(missing, 0, values).astype(np.int64), dtype="Int64")
        result[missing] = pd.NA
        return pd.Series(result, index=own.index).astype(own.dtype if fits else "Int64")
    return pd.Series(values.astype(plain if fits else np.int64), index=own.index)
