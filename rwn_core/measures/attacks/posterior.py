"""What the intruder believes of each released row, and how often a link is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.laws.law import Law
from rwn_core.measures.aligned import released_rows
from rwn_core.measures.attacks.likelihood import attacked_units, likelihoods
from rwn_core.measures.attacks.scaled_columns import entries, times

SAMPLED_PAIRS = 6_000_000  # candidate pairs weighed for one reading
SMALLEST_SAMPLE = 400  # of fewer without any above one half, 1 % of all could be
ATTACKED_PAIRS = 10_000_000  # candidate pairs that one look at all neighborhoods may find
Look = Callable[[sparse.csc_array, NDArray[np.int64]], None]
_SEED = 20220615  # of the sample of rows: fixed, so that a number changes only with the setting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linkage:
    """The intruder's links of some released rows.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        The released rows looked at, ascending; a row that lost all of its values is none.
    total_rows : int
        How many released rows there are.
    best : ndarray of float64, shape (m,)
        Probability of the most likely original; its mean estimates the success without bias.
    truth : ndarray of float64, shape (m,)
        Probability of the true source, kappa: what only the data steward can compute.
    top1, top5 : ndarray of float64, shape (m,)
        Chance that the true source is the first, or among the first five, of the intruder's list;
        ties share their places.
    same : ndarray of float64, shape (m,)
        Probability of the most likely group of identical originals.
    first : ndarray of int64, shape (m,)
        The original linked to each row, -1 where none can have released it.
    candidates : ndarray of int64, shape (m,)
        How many originals can have released the row.
    """

    rows: NDArray[np.int64]
    total_rows: int
    best: NDArray[np.float64]
    truth: NDArray[np.float64]
    top1: NDArray[np.float64]
    top5: NDArray[np.float64]
    same: NDArray[np.float64]
    first: NDArray[np.int64]
    candidates: NDArray[np.int64]

    @property
    def success(self) -> float:
        """Expected share of right links, R_MAP of this release."""
        return float(self.best.mean())

    @property
    def sampled(self) -> bool:
        """Whether only a random sample of the rows was looked at."""
        return len(self.rows) < self.total_rows


def posteriors(
    law: Law,
    masked: Microdata,
    rows: NDArray[np.int64],
    names: Sequence[str] | None = None,
    people: NDArray[np.int64] | None = None,
) -> sparse.csc_array:
    """What the intruder believes of each released row.

    Parameters
    ----------
    law : Law
        Of n original records.
    masked : Microdata
        The released table.
    rows : ndarray of int64, shape (m,)
        Released rows to link.
    names : sequence of str, optional
        The variables the intruder knows; all by default.
    people : ndarray of int64, shape (c,), optional
        The originals that the rows come from as he knows, ascending; all by default.

    Returns
    -------
    sparse array, shape (n, m), or (c, m)
        Column r holds P(row rows[r] comes from original i | its values), with every one of these
        originals equally likely beforehand; zero throughout if none can have produced it.
    """
    return normed(likelihoods(law, masked, rows, names, people)[0])


def normed(likelihood: sparse.csc_array) -> sparse.csc_array:
    """Divide each column by its sum, where that is above 0."""
    total = np.asarray(likelihood.sum(axis=0)).ravel()
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return times(likelihood, factor)


class Sample(NamedTuple):
    """The released rows that are looked at, and how many of them at a time."""

    rows: NDArray[np.int64]
    at_a_time: int


def link(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None = None,
    *,
    work: int = SAMPLED_PAIRS,
) -> Linkage:
    """Link the released rows, or a random sample of them where they are too many.

    Parameters
    ----------
    law : Law
        Of n original records.
    masked : Microdata
        The release, row-aligned with the original.
    names : sequence of str, optional
        The variables the intruder knows; all by default.
    work : int
        Candidate pairs to weigh at most, before a sample of the rows is taken.

    Returns
    -------
    Linkage

    Raises
    ------
    NotApplicable
        The release has none of these variables.
    """
    leaving, per_row = released_rows(law.original, masked), candidates_before(law, names, work)
    sample = row_sample(masked.n, per_row, work=work, whole=work, leaving=leaving)
    return weigh(law, masked, names, sample)[0]


def weigh(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None,
    sample: Sample,
    look: Look | None = None,
) -> tuple[Linkage, sparse.csc_array | None]:
    """Link some released rows, and keep what is believed of them where it is all.

    Parameters
    ----------
    law, masked, names : see `link`
    sample : Sample
    look : callable, optional
        Shown what is believed, some rows at a time, and which rows these are.

    Returns
    -------
    Linkage
    sparse array or None
        The `posteriors` of all rows; None where they are too many to be looked at together.
    """
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
    """About how many originals share a value with a row in the most telling variable.

    All of them, where they are so many that of `work` pairs the smallest sample is taken anyway.

    Raises
    ------
    NotApplicable
        The release has none of these variables.
    """
    units = attacked_units(law, names)
    if law.original.n**2 <= SAMPLED_PAIRS // 4:
        return float(law.original.n)
    # a row carries a value as often as it is likely: the expected size of its column
    enough = work / SMALLEST_SAMPLE
    columns = law.supports([name for unit in units for name in unit], enough)
    fewest = min(float(supports @ chances) for supports, chances in columns)
    return fewest if fewest < enough else float(law.original.n)


def row_sample(
    n: int,
    per_row: float,
    *,
    work: int,
    whole: int,
    leaving: NDArray[np.int64] | None = None,
) -> Sample:
    """The rows to look at: all, or random ones of those that leave.

    Parameters
    ----------
    n : int
        How many rows there are.
    per_row : float
        Candidates of each, see `candidates_before`.
    work : int
        Candidate pairs of the random ones.
    whole : int
        Candidate pairs up to which all rows are looked at.
    leaving : ndarray of int64, optional
        The rows in the file that leaves, ascending; all by default.
    """
    rows, per_row = np.arange(n), max(per_row, 1.0)
    most = max(SMALLEST_SAMPLE, int(work / per_row))
    if n * per_row > whole and n > most:
        rows = rows if leaving is None else leaving
        rows = rows[random_rows(len(rows), most)] if len(rows) > most else rows
    return Sample(rows, max(1, int(ATTACKED_PAIRS / per_row)))


def random_rows(n: int, count: int) -> NDArray[np.int64]:
    """So many of n rows, ascending: the same for every release."""
    chosen = np.random.default_rng(_SEED).choice(n, count, replace=False)
    return np.sort(chosen).astype(np.int64)


def identical_records(original: Microdata, names: Sequence[str] | None) -> NDArray[np.int64]:
    """The number of each record's group of records with the same values, shape (n,)."""
    chosen = [v.name for v in original.schema.released if names is None or v.name in names]

    def number() -> NDArray[np.int64]:
        frame = original.frame[chosen]
        # pandas does not group by numbers of half precision
        half = [name for name, dtype in frame.dtypes.items() if dtype == np.float16]
        frame = frame.astype(dict.fromkeys(half, np.float32)) if half else frame
        groups = frame.groupby(chosen, dropna=False, observed=True, sort=False)
        return np.asarray(groups.ngroup().to_numpy(), dtype=np.int64)

    return original.once(("identical records", *chosen), number)


def _read(
    belief: sparse.csc_array, rows: NDArray[np.int64], same: NDArray[np.int64]
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    from rwn_core.measures.attacks.belief_columns_kernel import (
        largest_of_groups,
        shares_above,
        shares_of,
    )

    best, first = largest(belief)
    starts, records, shares = entries(belief)
    truth = shares_of(starts, records, shares, rows)
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


def largest(belief: sparse.csc_array) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The largest share of each column and who holds it: the first of equals, -1 for nobody."""
    from rwn_core.measures.attacks.belief_columns_kernel import largest_shares

    belief.sort_indices()
    best, first = largest_shares(*entries(belief))
    return np.minimum(best, 1.0), first
