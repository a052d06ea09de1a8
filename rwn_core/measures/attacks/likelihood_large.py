"""Sparse likelihood of a table, counted over the donors of each record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.laws.asked_values_kernel import OTHERS, Asked, Together
from rwn_core.laws.donor_lists import DonorTables, Lists
from rwn_core.laws.value_counts_kernel import pairs_as_columns
from rwn_core.measures.attacks.pair_likelihood_kernel import HALVINGS, Pairs, level, likely_pairs

WORTH = 8  # values are counted together where at least so many donors share a place
RARE = 2  # values are looked up where at least so many times as many donors would be counted
Coded = tuple[Integers, Integers, float]


def sparse_likelihood(
    donors: DonorTables, coded: Sequence[Coded], rows: int, people: Integers | None = None
) -> tuple[sparse.csc_array, Floats]:
    """Return the product over units of P(each record releases a row's values), and log scales."""
    # coded: of each unit the originals' values as numbers from 0, the rows' (-1 for values of no
    # original) and its modification probability; the most informative unit first. Each column of
    # the result, (n, rows) or (len(people), rows), is divided by its largest entry.
    donors.check_fits(rows, None if people is None else len(people))
    possible = np.flatnonzero(np.all([released >= 0 for _, released, _ in coded], axis=0))
    none = np.empty(0, np.int32)
    parts = [Pairs(none, none, np.empty(0), none)]
    if len(possible):
        asked = _asked(coded, possible, donors)

        def weigh(lists: Lists, first: int, last: int) -> None:
            parts.append(likely_pairs(lists, asked, first, last))

        donors.each(weigh, any_donors=any(q for _, _, q in coded), records=people)
    pairs = Pairs(*map(np.concatenate, zip(*parts, strict=True)))
    parts.clear()
    row_of = possible.astype(np.int32)
    top, low = level(pairs, row_of, rows)
    number = donors.order if people is None else _places(people, donors.order)
    shape = (donors.n if people is None else len(people), rows)
    scaled = pairs_as_columns(pairs.record, row_of[pairs.row], pairs.value, number, shape)
    with np.errstate(divide="ignore"):
        return scaled, np.log(top) - HALVINGS * np.log(2.0) * low


def _places(people: Integers, order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number among these people of the record at each position; 0 for any other."""
    place = np.zeros(len(order), np.int32)
    place[people] = np.arange(len(people))
    return place[order]


def _asked(coded: Sequence[Coded], possible: Integers, donors: DonorTables) -> Asked:
    """Number the values of the possible rows, for the kernels."""
    order = donors.order
    codes = np.empty((len(coded), len(order)), np.int32)
    asked_values = np.empty((len(coded), len(possible)), np.int32)
    values = np.empty(len(coded), np.int64)
    for unit, (own, released, _) in enumerate(coded):
        occurring, asked_values[unit] = np.unique(released[possible], return_inverse=True)
        values[unit] = len(occurring)
        numbers = np.full(int(own.max()) + 1, len(occurring), np.int32)
        numbers[occurring] = np.arange(len(occurring))
        codes[unit] = numbers[own[order]]
    for mine, count in zip(codes, values, strict=True):
        mine += np.where(mine == count, np.arange(len(order)) % OTHERS, 0).astype(np.int32)
    together = _together(codes, values, donors.typical)
    starts = np.searchsorted(np.sort(asked_values[0]), np.arange(values[0] + 1)).astype(np.int64)
    rows = np.argsort(asked_values[0], kind="stable").astype(np.int32)
    shares = np.array([q for _, _, q in coded])
    return Asked(codes, asked_values, values, shares, starts, rows, together)


def _together(codes: NDArray[np.int32], values: Integers, donors: float) -> Together:
    """Return the places where each record's values are counted, given its number of donors."""
    base = np.cumsum(values + OTHERS) - values - OTHERS
    counted = codes < values[:, np.newaxis]
    few = counted.sum(axis=1) * RARE < donors
    room = int(values.sum()) + OTHERS * len(values)
    places = [np.empty((0, codes.shape[1]), np.int32)]
    added = [np.empty((0, 2), np.int64)]
    for group in _groups(values + 1, np.flatnonzero(~few), donors / WORTH):
        if len(group) == 1:
            places.append((base[group, np.newaxis] + codes[group]).astype(np.int32))
            continue
        some = values[group, np.newaxis]
        cells = np.indices(tuple(values[group] + 1)).reshape(len(group), -1)
        for cell, known, unit in zip(cells, cells < some, group, strict=True):
            added.append(np.column_stack((room + np.flatnonzero(known), base[unit] + cell[known])))
        shared = np.ravel_multi_index(
            tuple(np.minimum(codes[group], some)), tuple(values[group] + 1)
        )
        places.append((room + shared[np.newaxis]).astype(np.int32))
        room += cells.shape[1]
    rare, holder = np.nonzero(counted & few[:, np.newaxis])
    return Together(
        np.ascontiguousarray(np.concatenate(places).T),
        np.column_stack((base[rare] + codes[rare, holder], holder)).astype(np.int32),
        np.concatenate(added).astype(np.int32),
        base,
        room,
    )


def _groups(sizes: Integers, some: Integers, most: float) -> list[list[int]]:
    """Group units with at most `most` combinations of values: the largest with the smallest."""
    left, groups = list(some[np.argsort(sizes[some], kind="stable")]), []
    while left:
        group = [left.pop()]
        while left and np.prod(sizes[group], dtype=float) * sizes[left[0]] <= most:
            group.append(left.pop(0))
        groups.append(group)
    return groups
