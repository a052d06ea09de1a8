"""Likelihood of a table, counted over the donors of each record: only pairs that are left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.laws.donor_lists import DonorTables, Lists
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


class Together(NamedTuple):
    """Places of the counts of all units in one pass over a record's donors.

    A donor adds one at each of its places. Units of few values share a place, for each combination
    of their values, and what is counted there is added up once for all donors. If few
    records have the values of a unit, these are looked up among the donors instead.
    """

    places: Integers32  # shape (n, g): of each record
    # shape (h, 2): a place, and a record that adds one to it where it is a donor
    holders: Integers32
    # shape (c, 2): once all donors are counted, what is counted at the first is added to the second
    added: Integers32
    base: Integers  # shape (u,): where the counts of each unit's values begin
    room: int  # how many counts there are in all


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
    together: Together


@jit_inline
def count_together(
    lists: Any, index: int, counted: Together, counts: Integers32, marks: Integers32
) -> None:
    """Count the values of a record's donors."""
    # `index` is the record's in `lists`; counts (room,), all 0, are filled; marks (n,) is room to
    # mark donors: none of its numbers is index + 1.
    begin, mark, record = lists.begin[index], np.int32(index + 1), lists.records[index]
    groups = counted.places.shape[1]
    for entry in range(begin, begin + lists.sizes[index]):
        donor = np.uint32(lists.members[entry])
        marks[donor] = mark
        for group in range(groups):
            counts[np.uint32(counted.places[donor, group])] += 1
    if lists.itself:  # it is in its list, and no donor of its own
        marks[record] = 0
        for group in range(groups):
            counts[counted.places[record, group]] -= 1
    for place, holder in counted.holders:
        counts[np.uint32(place)] += marks[np.uint32(holder)] == mark
    for one, all_of_it in counted.added:
        counts[np.uint32(all_of_it)] += counts[np.uint32(one)]


@jit_inline
def multiply_together(
    asked: Asked, record: int, total: float, counts: Integers32, chances: Floats, products: Floats
) -> None:
    """P(a record releases each row), where what its `total` donors have is counted."""
    # `counts` are those of `count_together`, all 0 afterwards; `chances` is room for the values of
    # a unit; products (m,) are filled.
    units, rows = asked.released.shape
    products[:] = 1.0
    for unit in range(units):
        released, q, base = asked.released[unit], asked.q[unit], asked.together.base[unit]
        for code in range(asked.values[unit]):
            chances[code] = q * (counts[base + code] / total)
        own = asked.codes[unit, record]
        if own < asked.values[unit]:
            chances[own] = (1 - q) + chances[own]
        for row in range(rows):
            products[row] *= chances[np.uint32(released[row])]
    counts[:] = 0


HALVINGS = 512  # a product below this negative power of 2 is multiplied by its inverse
SMALL, LARGE = 2.0**-HALVINGS, 2.0**HALVINGS
LEAST = 2.0**-1000  # a product that is not below it has all of its digits
MANY = 8  # a record that may have released one row in so many has a product for every row, and so
# has one with so large a share of all records among its donors


class Pairs(NamedTuple):
    """Rows and records, and the probability that the record releases the row."""

    row: NDArray[np.int32]
    record: NDArray[np.int32]
    value: NDArray[np.float64]
    low: NDArray[np.int32]  # the probability is value times `SMALL` to this power


@jit_internal
def _pairs_for(count: int) -> Pairs:
    return Pairs(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count, np.int32),
    )


@jit_internal
def _longer(pairs: Pairs, count: int, used: int) -> Pairs:
    return Pairs(
        longer(pairs.row, used, count),
        longer(pairs.record, used, count),
        longer(pairs.value, used, count),
        longer(pairs.low, used, count),
    )


@jit_inline
def _begin(
    lists: Any,
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
    codes, q, record = asked.codes[0], asked.q[0], lists.records[index]
    found, values = counts[0], asked.values[0] + OTHERS
    for entry in range(count_values(lists, index, codes, values, q, counts, touched)):
        code = touched[entry]
        chance = value_probability(code, codes[record], found[code], lists.totals[index], q)
        found[code] = 0
        if chance > 0 and code < asked.values[0]:
            for at in range(asked.starts[code], asked.starts[code + 1]):
                pairs.row[used], pairs.record[used] = asked.rows[at], record
                pairs.value[used], pairs.low[used] = chance, 0
                used += 1
    return used


@jit_inline
def _multiply_pairs(
    lists: Any,
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
    codes, released, q = asked.codes[unit], asked.released[unit], asked.q[unit]
    own, total = codes[lists.records[index]], lists.totals[index]
    values, found = asked.values[unit] + OTHERS, counts[0]
    touches = count_values(lists, index, codes, values, q, counts, touched)
    left = begin
    for at in range(begin, used):
        code = released[pairs.row[at]]
        chance = value_probability(code, own, found[code], total, q)
        if chance > 0:
            value, low = pairs.value[at] * chance, pairs.low[at]
            if value < SMALL:
                value, low = value * LARGE, low + 1
            pairs.row[left], pairs.record[left] = pairs.row[at], pairs.record[at]
            pairs.value[left], pairs.low[left] = value, low
            left += 1
    for entry in range(touches):
        found[touched[entry]] = 0
    return left


@jit_inline
def _all_in_order(
    lists: Any,
    index: int,
    asked: Asked,
    counts: NDArray[np.int32],
    marks: NDArray[np.int32],
    chances: NDArray[np.float64],
    products: NDArray[np.float64],
    pairs: Pairs,
    used: int,
) -> int:
    """Add a record's many pairs, from one product for every row; how many pairs there are now."""
    # Shapes: counts (room,), all 0 before and after; marks (n,); chances (V,); products (rows,).
    # The last three are room.
    # Rows are in their order, so that several are multiplied at once.
    record = lists.records[index]
    count_together(lists, index, asked.together, counts, marks)
    multiply_together(asked, record, lists.totals[index], counts, chances, products)
    for row in range(len(products)):
        value, low = products[row], 0
        if value > 0:
            if value < SMALL:
                value, low = value * LARGE, 1
            pairs.row[used], pairs.record[used] = row, record
            pairs.value[used], pairs.low[used] = value, low
            used += 1
    return used


@jit_inline
def _least(asked: Asked, total: float) -> float:
    """No product of chances of a record with so many donors is less, unless it is 0."""
    least = 1.0
    for unit in range(len(asked.q)):
        q = asked.q[unit]
        least *= min(q / total, 1 - q) if q < 1 else q / total
    return least


@jit_inline
def _repeat(pairs: Pairs, begin: int, used: int, record: int) -> int:
    """Add the pairs from `begin` on once more, for another record; how many there are now."""
    for at in range(begin, used):
        more = used + at - begin
        pairs.row[more], pairs.record[more] = pairs.row[at], record
        pairs.value[more], pairs.low[more] = pairs.value[at], pairs.low[at]
    return 2 * used - begin


@jit_entry
def likely_pairs(lists: Any, asked: Asked, first: int, last: int) -> Pairs:
    """The rows that some records may have released."""
    # `first` and `last` are positions in `lists`.
    units, rows = asked.released.shape
    n, most, least_q = asked.codes.shape[1], 0, 1.0
    every = np.empty(units, np.int64)
    for unit in range(units):
        most, least_q = max(most, asked.values[unit] + OTHERS), min(least_q, asked.q[unit])
        every[unit] = unit
    counts, touched = np.zeros((LANES, most)), np.empty(most + 1, np.int32)
    chances, products = np.empty(most), np.empty(rows)
    tallies, marks = np.zeros(asked.together.room, np.int32), np.zeros(n, np.int32)
    together = units > 1 and len(lists.weights) == 0 and least_q > 0
    pairs, used, begin = _pairs_for(2 * rows), ZERO, ZERO
    for index in range(first, last):
        if used + rows > len(pairs.row):
            pairs = _longer(pairs, 2 * (used + rows), used)
        before, begin = begin, used
        if index > first and is_twin(lists, index, asked.codes, asked.values, every):
            used = _repeat(pairs, before, used, lists.records[index])
            continue
        jointly = together and _least(asked, lists.totals[index]) > LEAST
        many = MANY * lists.sizes[index] > n
        if not (jointly and many):
            used = _begin(lists, index, asked, counts, touched, pairs, used)
            many = MANY * (used - begin) > rows
        if jointly and many:
            used = _all_in_order(
                lists, index, asked, tallies, marks, chances, products, pairs, begin
            )
            continue
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
    top, low = np.zeros(rows), np.full(rows, -1, np.int32)
    for at in range(len(pairs.row)):
        row = row_of[pairs.row[at]]
        if low[row] < 0 or pairs.low[at] < low[row]:
            top[row], low[row] = pairs.value[at], pairs.low[at]
        elif pairs.low[at] == low[row]:
            top[row] = max(top[row], pairs.value[at])
    for at in range(len(pairs.row)):
        row = row_of[pairs.row[at]]
        value, lower = pairs.value[at] / top[row], pairs.low[at] - low[row]
        pairs.value[at] = math.ldexp(value, -HALVINGS * lower) if lower > 0 else value
    for row in range(rows):
        low[row] = max(low[row], 0)
    return top, low


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
    # Shapes: people (m,); order, the answer (n,).
    place = np.zeros(len(order), np.int32)
    place[people] = np.arange(len(people))
    return place[order]


def _asked(coded: Sequence[Coded], possible: Integers, donors: DonorTables) -> Asked:
    """Number the values of the possible rows, for the kernels."""
    order = donors.order
    codes = np.empty((len(coded), len(order)), np.int32)
    asked_values = np.empty((len(coded), len(possible)), np.int32)
    values = np.empty(len(coded), np.int64)
    spread = np.arange(len(order), dtype=np.int32) % OTHERS
    for unit, (own, released, _) in enumerate(coded):
        mine, asked = own[order], released[possible]
        occurring = np.zeros(int(own.max()) + 1, dtype=bool)
        occurring[asked] = True
        number = occurring.cumsum(dtype=np.int32) - 1
        values[unit], asked_values[unit] = number[-1] + 1, number[asked]
        codes[unit] = np.where(occurring[mine], number[mine], values[unit] + spread)
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
