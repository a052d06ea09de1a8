"""Posterior over originals for each released row, and expected linkage success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.laws.law import Law
from rwn_core.measures.aligned import released_rows
from rwn_core.measures.attacks.likelihood import attacked_units, entries, likelihoods, times

SMALLEST_SAMPLE = 400  # of fewer without any above one half, 1 % of all could be
Look = Callable[[sparse.csc_array, Integers], None]
_SEED = 20220615  # of the sample of rows: fixed, so that a number changes only with the setting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linkage:
    """Links of some released rows.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Linked rows, ascending, without rows that lost all values.
    total_rows : int
        Number of released rows.
    best : ndarray of float64, shape (m,)
        Posterior of the most likely original; its mean estimates the success without bias.
    truth : ndarray of float64, shape (m,)
        Posterior of the true source, kappa.
    top1, top5 : ndarray of float64, shape (m,)
        Probability that the true source is first, or among the first five, of the intruder's list;
        ties share their places.
    same : ndarray of float64, shape (m,)
        Posterior of the most likely group of identical originals.
    first : ndarray of int64, shape (m,)
        Original linked to each row, -1 if none can have released it.
    candidates : ndarray of int64, shape (m,)
        Number of originals that can have released the row.
    """

    rows: Integers
    total_rows: int
    best: Floats
    truth: Floats
    top1: Floats
    top5: Floats
    same: Floats
    first: Integers
    candidates: Integers

    @property
    def success(self) -> float:
        """Expected share of correct links, R_MAP of this release."""
        return float(self.best.mean())

    @property
    def sampled(self) -> bool:
        """True if only a random sample of the rows was linked."""
        return len(self.rows) < self.total_rows


def posteriors(
    law: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None = None,
    people: Integers | None = None,
) -> sparse.csc_array:
    """Return P(row rows[r] comes from original i | its values), a sparse (n, m) array."""
    # originals (all, or `people`: (c, m)) are equally likely beforehand; a column is 0 if none fits
    return normed(likelihoods(law, masked, rows, names, people)[0])


def normed(likelihood: sparse.csc_array) -> sparse.csc_array:
    """Divide each column by its sum, where that is above 0."""
    total = np.asarray(likelihood.sum(axis=0)).ravel()
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return times(likelihood, factor)


class Sample(NamedTuple):
    """Released rows to link, and how many at a time."""

    rows: Integers
    at_a_time: int


def link(
    law: Law, masked: Microdata, names: Sequence[str] | None = None, *, work: int = ATTACKED_PAIRS
) -> Linkage:
    """Link the released rows, or a random sample of at most `work` candidate pairs."""
    leaving, per_row = released_rows(law.original, masked), candidates_before(law, names, work)
    sample = row_sample(masked.n, per_row, work=work, leaving=leaving)
    return weigh(law, masked, names, sample)[0]


def weigh(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None,
    sample: Sample,
    look: Look | None = None,
) -> tuple[Linkage, sparse.csc_array | None]:
    """Link sampled rows; also return the posteriors if they fit one part of all rows."""
    same, results, start = identical_records(law.original, names), [], 0
    together, (rows, size) = None, sample
    while start < len(rows):
        part = rows[start : start + size]
        belief = posteriors(law, masked, part, names)
        together = belief if len(part) == masked.n else None
        results.append(_read(belief, part, same))
        if look is not None:
            look(belief, part)
        start += size
        # all variables together leave fewer candidates than the most telling one
        size = max(size, ATTACKED_PAIRS * len(part) // (4 * belief.nnz + 1))
    joined = {name: np.concatenate([part[name] for part in results]) for name in results[0]}
    released = released_rows(law.original, masked)
    if len(released) < masked.n:  # shares are of the rows that leave
        leaves = np.isin(rows, released)
        rows, joined = rows[leaves], {name: part[leaves] for name, part in joined.items()}
    return Linkage(rows=rows, total_rows=len(released), **joined), together


def candidates_before(law: Law, names: Sequence[str] | None, work: int) -> float:
    """Return about how many originals share a row's value of the most informative variable."""
    # n if they are so many that of `work` pairs the smallest sample is taken anyway
    units = attacked_units(law, names)
    if law.original.n**2 <= ATTACKED_PAIRS // 4:
        return float(law.original.n)
    # a row carries a value as often as it is likely: the expected size of its column
    enough = work / SMALLEST_SAMPLE
    columns = law.supports([name for unit in units for name in unit], enough)
    fewest = min(float(supports @ chances) for supports, chances in columns)
    return fewest if fewest < enough else float(law.original.n)


def row_sample(n: int, per_row: float, *, work: int, leaving: Integers | None = None) -> Sample:
    """Return all rows up to `work` candidate pairs, else random ones of so many."""
    rows, per_row = np.arange(n), max(per_row, 1.0)
    most = max(SMALLEST_SAMPLE, int(work / per_row))
    if n > most:
        rows = rows if leaving is None else leaving
        rows = rows[random_rows(len(rows), most)] if len(rows) > most else rows
    return Sample(rows, max(1, int(ATTACKED_PAIRS / per_row)))


def random_rows(n: int, count: int) -> Integers:
    """Return `count` of n rows, ascending, the same for every release."""
    chosen = np.random.default_rng(_SEED).choice(n, count, replace=False)
    return np.sort(chosen).astype(np.int64)


def identical_records(original: Microdata, names: Sequence[str] | None) -> Integers:
    """Return each record's group of records with equal values, shape (n,)."""
    chosen = [v.name for v in original.schema.released if names is None or v.name in names]

    def number() -> Integers:
        frame = original.frame[chosen]
        # pandas does not group by numbers of half precision
        half = [name for name, dtype in frame.dtypes.items() if dtype == np.float16]
        frame = frame.astype(dict.fromkeys(half, np.float32)) if half else frame
        groups = frame.groupby(chosen, dropna=False, observed=True, sort=False)
        return np.asarray(groups.ngroup().to_numpy(), dtype=np.int64)

    return original.cached(("identical records", *chosen), number)


def _read(belief: sparse.csc_array, rows: Integers, same: Integers) -> dict[str, Floats | Integers]:
    from rwn_core.measures.attacks.belief_columns_kernel import (
        largest_of_groups,
        record_shares,
        shares_above,
    )

    best, first = largest(belief)
    starts, records, shares = entries(belief)
    truth = record_shares(starts, records, shares, rows)
    low, high = truth * (1 - 1e-9), truth * (1 + 1e-9)
    above, least, candidates = shares_above(starts, shares, low, high)
    tied = np.maximum(least - above, 1)
    possible, groups = truth > 0, best
    if same.max() + 1 < len(same):
        groups = largest_of_groups(starts, records, shares, same)
    return {
        "best": best,
        "truth": truth,
        "top1": np.where(possible, np.clip((1 - above) / tied, 0, 1), 0.0),
        "top5": np.where(possible, np.clip((5 - above) / tied, 0, 1), 0.0),
        "same": np.minimum(groups, 1.0),
        "first": first,
        "candidates": candidates,
    }


def largest(belief: sparse.csc_array) -> tuple[Floats, Integers]:
    """Return each column's largest share and its first row; -1 for an empty column."""
    from rwn_core.measures.attacks.belief_columns_kernel import largest_shares

    belief.sort_indices()
    best, first = largest_shares(*entries(belief))
    return np.minimum(best, 1.0), first
