"""Likelihood of each released row, posterior over its originals, and expected linkage success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.comparison import released_rows
from rwn_core.neighbors import table as neighbor_table


class Scaled(NamedTuple):
    """A matrix with columns on scales of their own: 1 is the largest entry of each."""

    matrix: sparse.csc_array
    logs: Floats  # shape (columns,): the logarithms of the scales


def entries(
    matrix: sparse.csc_array | sparse.csr_array,
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return column starts, row numbers and values, as kernels read them; of rows likewise."""
    # Shapes: starts (m,), one more than columns; row numbers, values (P,), of the stored entries.
    starts = matrix.indptr.astype(np.int64, copy=False)
    return starts, matrix.indices.astype(np.int32, copy=False), matrix.data


MANY_PAIRS = 100_000  # more than these SciPy arranges in less time


def counted_entries(
    row: Integers, column: Integers, height: int, width: int
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return how often each pair of a row and a column is given, as `entries` of rows."""
    # Shapes: row, column (P,).
    # most pairs come in order, which this sort makes use of
    pair = np.sort(row.astype(np.int64) * width + column, kind="stable")
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    often = np.diff(first, append=len(pair)).astype(np.float64)
    pair = pair[first]
    begins = np.arange(height + 1) * width
    starts = np.searchsorted(pair, begins)
    columns = pair - np.repeat(begins[:-1], np.diff(starts))
    return starts, columns.astype(np.int32), often


def counted_pairs(row: Integers, column: Integers, shape: tuple[int, int]) -> sparse.csr_array:
    """Return how often each pair of a row and a column is given, as an array of a shape."""
    if len(row) > MANY_PAIRS:
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    starts, columns, often = counted_entries(row, column, *shape)
    return sparse.csr_array((often, columns, starts.astype(np.int32)), shape=shape)


def leveled(parts: Sequence[Scaled]) -> tuple[list[sparse.csc_array], Floats]:
    """Return the parts on one scale per column, and its logarithm."""
    # Shapes: the logarithms of each part, and of the answer, (columns,).
    if len(parts) == 1:
        return [parts[0].matrix], parts[0].logs
    top = np.max([part.logs for part in parts], axis=0)
    finite = np.where(np.isfinite(top), top, 0.0)
    return [times(part.matrix, np.exp(part.logs - finite)) for part in parts], top


def times(matrix: sparse.csc_array, factors: Floats) -> sparse.csc_array:
    """Multiply each column by its own factor; zeros are not stored."""
    # Shapes: factors (columns,).
    # scipy's product with a diagonal matrix takes several times as long
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    product = sparse.csc_array((data, matrix.indices.copy(), matrix.indptr.copy()), matrix.shape)
    if not data.all():
        product.eliminate_zeros()
    return product


def releveled(part: Scaled) -> Scaled:
    """Divide each column again by its largest entry."""
    matrix = part.matrix
    top = tops(matrix.data, matrix.indptr)
    data = matrix.data / np.repeat(np.where(top > 0, top, 1.0), np.diff(matrix.indptr))
    scaled = sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    with np.errstate(divide="ignore"):
        return Scaled(scaled, part.logs + np.log(top))


def tops(values: Floats, starts: Integers, none: float = 0.0) -> Floats:
    """Return the largest of each run of values, or rows of values; `none` of an empty run."""
    # Shapes: values (P, ...); starts (m,), one more than runs.
    top = np.full((len(starts) - 1, *values.shape[1:]), none)
    some = np.flatnonzero(np.diff(starts))
    if some.size:
        top[some] = np.maximum.reduceat(values, starts[:-1][some])
    return top


def of_records(part: Scaled, records: Integers | None) -> Scaled:
    """Return the rows of some records on scales of their own; all if None."""
    if records is None:
        return part
    rows = sparse.csr_array(part.matrix)[records]
    return releveled(Scaled(sparse.csc_array(rows), part.logs))


LARGEST_DENSE = neighbor_table.LARGEST_DENSE**2  # pairs: all of a small table


class Way(NamedTuple):
    """One way in which rows come about, and its likelihood."""

    weight: float  # P(a row comes about in this way), lost rows included
    cells: Law
    lost: bool  # True for rows of records without neighbors: their modified cells are missing
    part: Scaled  # P(each record releases each row, in this way); see `likelihoods`


def attacked_units(law: Law, names: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Return the units of the attacked variables; of a group, the part that is attacked."""
    units = law.telling(names)
    if not units:
        raise NotApplicable("The release has no variables to link by.")
    return units


def touched(law: Law, names: Sequence[str] | None) -> list[str]:
    """Return the attacked variables that may be modified."""
    attacked = chain.from_iterable(attacked_units(law, names))
    return [name for name in attacked if law.modification(name)]


def likelihoods(
    law: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None = None,
    people: Integers | None = None,
) -> Scaled:
    """Return P(each original record releases a row's values), as (n, m) columns and log scales."""
    # cells are independent given the original, so L_i is a product over variables, and a law of
    # several components adds up (Perry, Matloff, Tendick 2022, section 5). The log scale is -inf
    # where no record can release the row; `people` restricts the records, shape (c, m).
    parts = [way.part for way in ways(law, masked, rows, names, people)]
    if len(parts) == 1:
        return parts[0]
    level, top = leveled(parts)
    return releveled(Scaled(sum(level[1:], level[0]).tocsc(), top))


def ways(
    law: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None = None,
    people: Integers | None = None,
) -> list[Way]:
    """Return the parts of the likelihood, one for each way in which a row may come about."""
    parts: list[Way] = []
    for weight, cells in law.components():
        for likelihood in (_product, _lost) if cells.empty.size else (_product,):
            matrix, logs = likelihood(cells, masked, rows, names, people)
            with np.errstate(divide="ignore"):
                scaled = Scaled(matrix, logs + np.log(weight))
            parts.append(Way(weight, cells, likelihood is _lost, scaled))
    return parts


def _product(
    law: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None,
    people: Integers | None = None,
) -> Scaled:
    """Return the product over the units, counted over donors where values have donors."""
    units = attacked_units(law, names)
    # one slice alone has the weights of its neighborhood, whatever it is tied to
    drawn = sum(law.modification(unit[0]) > 0 for unit in units)
    if law.donors is not None and (law.tied is None or drawn < 2):
        from rwn_core.measures.attacks.pair_likelihood_kernel import sparse_likelihood

        some, places = masked, rows
        if 2 * len(rows) < masked.n:
            some = masked.take(rows)
            places = np.arange(len(rows))
        coded = [
            (*codes_together(law.original, some, unit, places), law.modification(unit[0]))
            for unit in units
        ]
        first = np.argsort([-own.max() for own, _, _ in coded], kind="stable")
        informative = [coded[unit] for unit in first]  # the most informative unit first
        return Scaled(*sparse_likelihood(law.donors, informative, len(rows), people))
    most = max(1, LARGEST_DENSE // law.original.n)
    parts = []
    for start in range(0, max(1, len(rows)), most):
        # the product of the units' probabilities, in logarithms, shape (rows, n)
        logs = law.logs(units, masked, rows[start : start + most])
        top = logs.max(axis=1)
        scaled = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[:, np.newaxis])
        parts.append(of_records(Scaled(sparse.csc_array(scaled.T), top), people))
    if len(parts) == 1:
        return parts[0]
    matrices, tops = zip(*parts, strict=True)
    return Scaled(sparse.csc_array(sparse.hstack(matrices)), np.concatenate(tops))


def _lost(
    cells: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None,
    people: Integers | None = None,
) -> Scaled:
    """Return the likelihood of lost rows, from records without neighbors."""
    # such a record modifies all that it may, or nothing
    drawn = touched(cells, names)
    able = np.zeros(cells.original.n)
    able[cells.empty] = 1.0
    able = able if people is None else able[people]
    n, m = len(able), len(rows)
    gone = masked.frame[drawn].isna().all(axis=1).to_numpy()[rows] if drawn else np.zeros(m, bool)
    if not np.any(gone):
        return Scaled(sparse.csc_array((n, m)), np.full(m, -np.inf))
    attacked = chain.from_iterable(attacked_units(cells, names))
    fixed = [name for name in attacked if name not in drawn]
    # a height of 0 would drown what is likely to the power of hundreds of columns
    impossible = np.where(gone, 0.0, -np.inf)
    if not fixed:
        empty = np.flatnonzero(able)
        starts = np.concatenate(([0], np.cumsum(gone * empty.size)))
        records = np.tile(empty, int(gone.sum()))
        everywhere = sparse.csc_array((np.ones(len(records)), records, starts), (n, m))
        return Scaled(everywhere, impossible)
    same, logs = _product(cells, masked, rows, fixed, people)
    matrix = times(sparse.csc_array(sparse.diags_array(able) @ same), gone.astype(np.float64))
    return Scaled(matrix, logs + impossible)


SMALLEST_SAMPLE = 400  # of fewer without any above one half, 1 % of all could be
Look = Callable[[sparse.csc_array, Integers], None]
_SEED = 20220615  # of the sample of rows: fixed, so that a number changes only with the setting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linkage:
    """The links of some released rows."""

    rows: Integers  # shape (m,): linked rows, ascending, without rows that lost all values
    total_rows: int  # number of released rows
    # shape (m,): posterior of the most likely original; its mean estimates the success without bias
    best: Floats
    truth: Floats  # shape (m,): posterior of the true source, kappa
    # where units have several records, best, truth, top1, top5 and candidates are of units
    # top1, top5: shape (m,): probability that the true source is first, or among the first five, of
    # the intruder's list; ties share their places
    top1: Floats
    top5: Floats
    first: Integers  # shape (m,): original linked to each row, -1 if none can have released it
    candidates: Integers  # shape (m,): number of originals that can have released the row

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
    """Return the posterior P(row rows[r] comes from original i | its values), sparse (n, m)."""
    # originals (all, or `people`: (c, m)) are equally likely beforehand; a column is 0 if none fits
    return normed(likelihoods(law, masked, rows, names, people)[0])


def normed(likelihood: sparse.csc_array) -> sparse.csc_array:
    """Divide each column by its sum, where that is above 0."""
    total = np.asarray(likelihood.sum(axis=0)).ravel()
    return times(likelihood, np.divide(1.0, total, out=np.zeros_like(total), where=total > 0))


def of_units(belief: sparse.csc_array, units: Integers) -> sparse.csc_array:
    """Add up what each column believes of the records of each unit, shape (units, m)."""
    # each row is believed to be of unit u with the sum over the records that u has
    numbers = units.astype(np.int32)[belief.indices]
    shape = int(units.max()) + 1, belief.shape[1]
    summed = sparse.csc_array((belief.data.copy(), numbers, belief.indptr.copy()), shape=shape)
    summed.sum_duplicates()
    return summed


class Sample(NamedTuple):
    """A sample of released rows that are linked."""

    rows: Integers
    at_a_time: int


def link(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None = None,
    *,
    units: Integers | None = None,
    work: int = ATTACKED_PAIRS,
) -> Linkage:
    """Link the released rows, or a random sample of at most `work` candidate pairs."""
    return weigh(law, masked, names, sampled(law, masked, names, work), units=units)[0]


def weigh(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None,
    sample: Sample,
    look: Look | None = None,
    units: Integers | None = None,
) -> tuple[Linkage, sparse.csc_array | None]:
    """Link sampled rows, to records or to `units` (n,), with the posteriors if of all rows."""
    results = []
    start = 0
    together = None
    rows = sample.rows
    size = sample.at_a_time
    while start < len(rows):
        part = rows[start : start + size]
        belief = normed(likelihoods(law, masked, part, names)[0])
        together = belief if len(part) == masked.n else None
        results.append(_read(belief, part, units))
        if look is not None:
            look(belief, part)
        start += size
        # all variables together leave fewer candidates than the most telling one
        size = max(size, ATTACKED_PAIRS * len(part) // (4 * belief.nnz + 1))
    joined = {name: np.concatenate([part[name] for part in results]) for name in results[0]}
    released = released_rows(law.original, masked)
    if len(released) < masked.n:  # shares are of the rows that leave
        leaves = np.isin(rows, released)
        rows = rows[leaves]
        joined = {name: part[leaves] for name, part in joined.items()}
    return Linkage(rows=rows, total_rows=len(released), **joined), together


def candidates_before(law: Law, names: Sequence[str] | None, work: int) -> float:
    """Return about how many originals share a row's value of the most informative variable."""
    # n if they are so many that of `work` pairs the smallest sample is taken anyway
    units = attacked_units(law, names)
    if law.original.n**2 <= ATTACKED_PAIRS // 4:
        return float(law.original.n)
    # a row carries a value as often as it is likely: the expected size of its column
    enough = work / SMALLEST_SAMPLE
    columns = law.supports(list(chain.from_iterable(units)), enough)
    fewest = min(float(supports @ chances) for supports, chances in columns)
    return fewest if fewest < enough else float(law.original.n)


def sampled(law: Law, masked: Microdata, names: Sequence[str] | None, work: int) -> Sample:
    """Return all rows up to `work` candidate pairs, else random rows with at most these."""
    rows = np.arange(masked.n)
    per_row = max(candidates_before(law, names, work), 1.0)
    most = max(SMALLEST_SAMPLE, int(work / per_row))
    if masked.n > most:
        rows = released_rows(law.original, masked)
        if len(rows) > most:  # ascending, the same for every release
            chosen = np.random.default_rng(_SEED).choice(len(rows), most, replace=False)
            rows = rows[np.sort(chosen)]
    return Sample(rows, max(1, int(ATTACKED_PAIRS / per_row)))


def _read(
    belief: sparse.csc_array, rows: Integers, units: Integers | None
) -> dict[str, Floats | Integers]:
    from rwn_core.measures.attacks.belief_columns_kernel import places_of

    best, first = largest(belief)
    # beliefs in units are the sums over their records
    if units is not None:
        belief = of_units(belief, units)
        rows = units[rows]
        (best, unit) = largest(belief)
        one = np.unique(units, return_index=True)[1]
        first = np.where(unit < 0, -1, one[unit])
    # the share of the true source, and how many shares are above and equal to it, but for rounding
    truth = shares_of(belief, rows)
    above, least, candidates = places_of(belief.indptr, belief.data, truth)
    # the places 1 and 5 are dealt among tied shares at random
    tied = np.maximum(least - above, 1)
    possible = truth > 0
    return {
        "best": best,
        "truth": truth,
        "top1": np.where(possible, np.clip((1 - above) / tied, 0, 1), 0.0),
        "top5": np.where(possible, np.clip((5 - above) / tied, 0, 1), 0.0),
        "first": first,
        "candidates": candidates,
    }


def shares_of(belief: sparse.csc_array, own: Integers) -> Floats:
    """Return the share that each column gives to its own row; 0 if none is stored."""
    # Shapes: own, the answer (columns,).
    return np.asarray(belief[own, np.arange(len(own))]).ravel()


def largest(belief: sparse.csc_array) -> tuple[Floats, Integers]:
    """Return each column's largest share and its first row; -1 for an empty column."""
    # Shapes: both answers (columns,).
    from rwn_core.measures.attacks.belief_columns_kernel import largest_shares

    belief.sort_indices()
    best, first = largest_shares(*entries(belief))
    return np.minimum(best, 1.0), first
