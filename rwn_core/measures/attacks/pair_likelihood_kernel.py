"""Likelihood of a table over the donors of each record, and least ratios of likelihoods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.lists import Lists
from rwn_core.laws.value_counts_kernel import (
    LANES,
    count_values,
    is_twin,
    longer,
    pairs_as_columns,
    value_probability,
)
from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_internal

OTHERS = 8  # numbers for what is not asked for: adding to one number again and again is slow


class Asked(NamedTuple):
    """The released values that a search for sources asks for, unit by unit."""

    # shape (u, n): each record's value, as a number among those asked for; `values[u]` or somewhat
    # more for any other
    codes: Integers32
    released: Integers32  # shape (u, m): each row's, as a number among the same
    # shape (u,): how many values are asked for; other numbers are less than `OTHERS` above
    values: Integers
    q: Floats  # shape (u,)
    # shape (values[0] + 1,): where the rows begin that have each value of the first unit
    starts: Integers
    rows: Integers32  # shape (m,): the rows in the order of their values


HALVINGS = 512  # a product below this negative power of 2 is multiplied by its inverse
SMALL, LARGE = 2.0**-HALVINGS, 2.0**HALVINGS


class Pairs(NamedTuple):
    """The rows and records, and the probability that the record releases the row."""

    row: NDArray[np.int32]
    record: NDArray[np.int32]
    value: NDArray[np.float64]
    low: NDArray[np.int32]  # the probability is value times `SMALL` to this power


@jit_internal
def _longer(pairs: Pairs, count: int, used: int) -> Pairs:
    return Pairs(
        longer(pairs.row, used, count),
        longer(pairs.record, used, count),
        longer(pairs.value, used, count),
        longer(pairs.low, used, count),
    )


@jit_inline
def _begin_pairs(
    lists: Lists,
    index: int,
    asked: Asked,
    counts: NDArray[np.float64],
    touched: NDArray[np.int32],
    pairs: Pairs,
    used: int,
) -> int:
    """Add a record's pairs by the first unit; how many pairs there are now."""
    # Shapes: counts (LANES, V), all 0 before and after; touched (t,), t above V, is room for
    # values.
    codes = asked.codes[0]
    q = asked.q[0]
    record = lists.records[index]
    found = counts[0]
    values = asked.values[0] + OTHERS
    for entry in range(count_values(lists, index, codes, values, q, counts, touched)):
        code = touched[entry]
        chance = value_probability(code, codes[record], found[code], lists.totals[index], q)
        found[code] = 0
        if chance > 0 and code < asked.values[0]:
            for at in range(asked.starts[code], asked.starts[code + 1]):
                pairs.row[used] = asked.rows[at]
                pairs.record[used] = record
                pairs.value[used] = chance
                pairs.low[used] = 0
                used += 1
    return used


@jit_inline
def _multiply_pairs(
    lists: Lists,
    index: int,
    unit: int,
    asked: Asked,
    counts: NDArray[np.float64],
    touched: NDArray[np.int32],
    pairs: Pairs,
    begin: int,
    used: int,
) -> int:
    """Multiply a record's pairs, from `begin` on, by another unit; how many are left in all."""
    codes = asked.codes[unit]
    released = asked.released[unit]
    q = asked.q[unit]
    own = codes[lists.records[index]]
    total = lists.totals[index]
    values = asked.values[unit] + OTHERS
    found = counts[0]
    touches = count_values(lists, index, codes, values, q, counts, touched)
    left = begin
    for at in range(begin, used):
        code = released[pairs.row[at]]
        chance = value_probability(code, own, found[code], total, q)
        if chance > 0:
            value = pairs.value[at] * chance
            low = pairs.low[at]
            if value < SMALL:
                value, low = value * LARGE, low + 1
            pairs.row[left] = pairs.row[at]
            pairs.record[left] = pairs.record[at]
            pairs.value[left], pairs.low[left] = value, low
            left += 1
    for entry in range(touches):
        found[touched[entry]] = 0
    return left


@jit_inline
def _repeat(pairs: Pairs, begin: int, used: int, record: int) -> int:
    """Add the pairs from `begin` on once more, for another record; how many there are now."""
    for at in range(begin, used):
        more = used + at - begin
        pairs.row[more] = pairs.row[at]
        pairs.record[more] = record
        pairs.value[more] = pairs.value[at]
        pairs.low[more] = pairs.low[at]
    return 2 * used - begin


@jit_entry
def likely_pairs(lists: Lists, asked: Asked, pairs: Pairs, first: int, last: int) -> Pairs:
    """The rows that some records may have released."""
    # `first` and `last` are positions in `lists`; the given `pairs` are none.
    units, rows = asked.released.shape
    most = 0
    every = np.empty(units, np.int64)
    for unit in range(units):
        most = max(most, asked.values[unit] + OTHERS)
        every[unit] = unit
    counts = np.zeros((LANES, most))
    touched = np.empty(most + 1, np.int32)
    used, begin = ZERO, ZERO
    for index in range(first, last):
        if used + rows > len(pairs.row):
            pairs = _longer(pairs, 2 * (used + rows), used)
        before, begin = begin, used
        if index > first and is_twin(lists, index, asked.codes, asked.values, every):
            used = _repeat(pairs, before, used, lists.records[index])
            continue
        used = _begin_pairs(lists, index, asked, counts, touched, pairs, used)
        for unit in range(1, units):
            if used > begin:
                used = _multiply_pairs(
                    lists, index, unit, asked, counts, touched, pairs, begin, used
                )
    return _longer(pairs, used, used)


@jit_entry
def level(
    pairs: Pairs, row_of: NDArray[np.int32], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Divide the numbers of each row by the largest, in place."""
    # Shapes: row_of (m,); both answers (rows,).
    # `row_of` is the number of each row that `pairs` name. They were divided by top times `SMALL`
    # to the power of low; 0 for a row without pairs.
    top = np.zeros(rows)
    low = np.full(rows, -1, np.int32)
    for at in range(len(pairs.row)):
        row = row_of[pairs.row[at]]
        if low[row] < 0 or pairs.low[at] < low[row]:
            top[row] = pairs.value[at]
            low[row] = pairs.low[at]
        elif pairs.low[at] == low[row]:
            top[row] = max(top[row], pairs.value[at])
    for at in range(len(pairs.row)):
        row = row_of[pairs.row[at]]
        value, lower = pairs.value[at] / top[row], pairs.low[at] - low[row]
        pairs.value[at] = math.ldexp(value, -HALVINGS * lower) if lower > 0 else value
    for row in range(rows):
        low[row] = max(low[row], 0)
    return top, low


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
    nothing = Pairs(none, none, np.empty(0), none)
    parts = {-1: nothing}  # by the position that each begins at
    if len(possible):
        asked = _asked(coded, possible, donors)

        def weigh(lists: Lists, first: int, last: int) -> None:
            parts[int(lists.records[first])] = likely_pairs(lists, asked, nothing, first, last)

        donors.each(weigh, any_donors=any(q for _, _, q in coded), records=people)
    in_order = map(parts.__getitem__, sorted(parts))
    pairs = Pairs(*map(np.concatenate, zip(*in_order, strict=True)))
    parts.clear()
    row_of = possible.astype(np.int32)
    top, low = level(pairs, row_of, rows)
    number = donors.order
    if people is not None:  # the number among these people of each position's record, 0 of others
        place = np.zeros(donors.n, np.int32)
        place[people] = np.arange(len(people))
        number = place[donors.order]
    shape = (donors.n if people is None else len(people), rows)
    scaled = pairs_as_columns(pairs.record, row_of[pairs.row], pairs.value, number, shape)
    with np.errstate(divide="ignore"):
        return scaled, np.log(top) - HALVINGS * np.log(2.0) * low


def _asked(coded: Sequence[Coded], possible: Integers, donors: DonorTables) -> Asked:
    """Number the values of the possible rows, for the kernels."""
    order = donors.order
    codes = np.empty((len(coded), len(order)), np.int32)
    asked_values = np.empty((len(coded), len(possible)), np.int32)
    values = np.empty(len(coded), np.int64)
    spread = np.arange(len(order), dtype=np.int32) % OTHERS
    for unit, (own, released, _) in enumerate(coded):
        mine = own[order]
        asked = released[possible]
        occurring = np.zeros(int(own.max()) + 1, dtype=bool)
        occurring[asked] = True
        number = occurring.cumsum(dtype=np.int32) - 1
        values[unit] = number[-1] + 1
        asked_values[unit] = number[asked]
        codes[unit] = np.where(occurring[mine], number[mine], values[unit] + spread)
    starts = np.searchsorted(np.sort(asked_values[0]), np.arange(values[0] + 1)).astype(np.int64)
    rows = np.argsort(asked_values[0], kind="stable").astype(np.int32)
    shares = np.array([q for _, _, q in coded])
    return Asked(codes, asked_values, values, shares, starts, rows)


# Smallest ratios of two records' likelihoods over all values or rows


@jit_entry
def add_least_log_ratios(
    logs: NDArray[np.float64],
    near: NDArray[np.int32],
    least: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Add the smallest log ratio of each record's likelihoods to those of records near it."""
    # logs (n, V) are finite: of each value, or released row, for each record. To least (n, m) of
    # rows `first` to `last` - 1, min_v logs[i, v] - logs[near[i, t], v] is added.
    values = logs.shape[1]
    for record in range(first, last):
        own = logs[record]
        for place in range(near.shape[1]):
            other = logs[near[record, place]]
            smallest = np.inf
            for value in range(values):
                smallest = min(smallest, own[value] - other[value])
            least[record, place] += smallest
