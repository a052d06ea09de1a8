"""Likelihood: the probability that each original record releases a row, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.value_codes import codes_together
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.scaled_columns import Scaled, leveled, of_records, releveled, times
from rwn_core.neighbors import table as neighbor_table

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
        from rwn_core.measures.attacks.likelihood_large import sparse_likelihood

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
