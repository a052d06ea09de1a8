"""Likelihood: the probability that each original record releases a row, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.neighbors import table as neighbor_table

Scaled = tuple[sparse.csc_array, Floats]
"""Numbers, and for each column the logarithm of what they are to be multiplied by."""


def entries(matrix: sparse.csc_array) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return column starts, row numbers and values, as kernels read them."""
    starts = matrix.indptr.astype(np.int64, copy=False)
    return starts, matrix.indices.astype(np.int32, copy=False), matrix.data


def leveled(parts: Sequence[Scaled]) -> tuple[list[sparse.csc_array], Floats]:
    """Return the parts on one scale per column, and its logarithm."""
    if len(parts) == 1:
        return [parts[0][0]], parts[0][1]
    top = np.max([logs for _, logs in parts], axis=0)
    finite = np.where(np.isfinite(top), top, 0.0)
    return [times(matrix, np.exp(logs - finite)) for matrix, logs in parts], top


def times(matrix: sparse.csc_array, factors: Floats) -> sparse.csc_array:
    """Multiply each column by a factor of its own; zeros are not stored."""
    # scipy's product with a diagonal matrix takes several times as long
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    product = sparse.csc_array((data, matrix.indices.copy(), matrix.indptr.copy()), matrix.shape)
    if not data.all():
        product.eliminate_zeros()
    return product


def normalized(matrix: sparse.csc_array) -> Scaled:
    """Return each column divided by its largest entry, and those entries."""
    counts = np.diff(matrix.indptr)
    largest = np.zeros(matrix.shape[1])
    some = np.flatnonzero(counts)
    if some.size:
        largest[some] = np.maximum.reduceat(matrix.data, matrix.indptr[:-1][some])
    divisor = np.where(largest > 0, largest, 1.0)
    data = matrix.data / np.repeat(divisor, counts)
    scaled = sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return scaled, largest


def releveled(part: Scaled) -> Scaled:
    """Divide each column again by its largest entry."""
    matrix, logs = part
    scaled, largest = normalized(matrix)
    with np.errstate(divide="ignore"):
        return scaled, logs + np.log(largest)


def of_records(part: Scaled, records: Integers | None) -> Scaled:
    """Return the rows of some records on scales of their own; all if None."""
    if records is None:
        return part
    return releveled((sparse.csc_array(sparse.csr_array(part[0])[records]), part[1]))


LARGEST_DENSE = neighbor_table.LARGEST_DENSE**2  # pairs: all of a small table


class Way(NamedTuple):
    """One way in which rows come about, and its likelihood.

    Attributes
    ----------
    weight : float
        P(a row comes about in this way), lost rows included.
    cells : Law
    lost : bool
        True for rows of records without neighbors, whose modified cells are missing.
    part : Scaled
        P(each record releases each row, in this way); see `likelihoods`.
    """

    weight: float
    cells: Law
    lost: bool
    part: Scaled


def attacked_units(law: Law, names: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Return the units of the attacked variables; of a group, the part that is attacked."""
    chosen = None if names is None else set(names)
    units = law.units()
    if chosen is not None:
        units = [each for unit in units if (each := tuple(filter(chosen.__contains__, unit)))]
    if not units:
        raise NotApplicable("The release has no variables to link by.")
    return units


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
    return parts[0] if len(parts) == 1 else _sum(parts)


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
        product = _product(cells, masked, rows, names, people)
        parts.append(Way(weight, cells, False, _weighted(product, weight)))
        if cells.empty.size:
            lost = _lost(cells, masked, rows, names, people)
            parts.append(Way(weight, cells, True, _weighted(lost, weight)))
    return parts


def _weighted(part: Scaled, weight: float) -> Scaled:
    matrix, logs = part
    with np.errstate(divide="ignore"):
        return matrix, logs + np.log(weight)


def _product(
    law: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None,
    people: Integers | None = None,
) -> Scaled:
    """Return the product over the units, counted over donors where values have donors."""
    if law.donors is not None:
        from rwn_core.measures.attacks.pair_likelihood_kernel import sparse_likelihood

        some, places = masked, rows
        if 2 * len(rows) < masked.n:
            some, places = masked.take(rows), np.arange(len(rows))
        coded = [
            (*codes_together(law.original, some, unit, places), law.modification(unit[0]))
            for unit in attacked_units(law, names)
        ]
        first = np.argsort([-own.max() for own, _, _ in coded], kind="stable")
        informative = [coded[unit] for unit in first]  # the most informative unit first
        return sparse_likelihood(law.donors, informative, len(rows), people)
    most = max(1, LARGEST_DENSE // law.original.n)
    parts = [
        of_records(_product_of_chances(law, masked, rows[start : start + most], names), people)
        for start in range(0, max(1, len(rows)), most)
    ]
    if len(parts) == 1:
        return parts[0]
    matrices, logs = zip(*parts, strict=True)
    return sparse.csc_array(sparse.hstack(matrices)), np.concatenate(logs)


def _product_of_chances(
    law: Law, masked: Microdata, rows: Integers, names: Sequence[str] | None
) -> Scaled:
    """Return the product of the units' probabilities, in logarithms."""
    logs = np.zeros((len(rows), law.original.n))
    for unit in attacked_units(law, names):
        with np.errstate(divide="ignore"):
            logs += np.log(law.unit_chances(unit, masked, rows))
    top = logs.max(axis=1)
    scaled = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[:, np.newaxis])
    return sparse.csc_array(scaled.T), top


def _sum(parts: Sequence[Scaled]) -> Scaled:
    """Return the sum of the likelihoods of several ways."""
    level, top = leveled(parts)
    return releveled((sum(level[1:], level[0]).tocsc(), top))


def _lost(
    cells: Law,
    masked: Microdata,
    rows: Integers,
    names: Sequence[str] | None,
    people: Integers | None = None,
) -> Scaled:
    """Return the likelihood of lost rows, from records without neighbors."""
    # such a record modifies all that it may, or nothing
    units = attacked_units(cells, names)
    touched = [name for unit in units for name in unit if cells.modification(name)]
    able = np.zeros(cells.original.n)
    able[cells.empty] = 1.0
    able = able if people is None else able[people]
    n, m = len(able), len(rows)
    gone = (
        masked.frame[touched].isna().all(axis=1).to_numpy()[rows] if touched else np.zeros(m, bool)
    )
    if not np.any(gone):
        return sparse.csc_array((n, m)), np.full(m, -np.inf)
    kept = [name for unit in units for name in unit if not cells.modification(name)]
    # a height of 0 would drown what is likely to the power of hundreds of columns
    impossible = np.where(gone, 0.0, -np.inf)
    if not kept:
        empty = np.flatnonzero(able)
        starts = np.concatenate(([0], np.cumsum(gone * empty.size)))
        records = np.tile(empty, int(gone.sum()))
        return sparse.csc_array((np.ones(len(records)), records, starts), (n, m)), impossible
    same, logs = _product(cells, masked, rows, kept, people)
    matrix = times(sparse.csc_array(sparse.diags_array(able) @ same), gone.astype(np.float64))
    return matrix, logs + impossible
