"""Counts of values among a record's donors, pairs as a sparse array, members picked by weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.laws.lists import Lists
from rwn_core.neighbors.rank_kernel import sort_pairs
from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_internal, jit_no_refcount

LANES = 4  # rows that a count is spread over


@jit_inline
def is_twin(lists: Lists, index: int, codes: Integers32, values: Integers, some: Integers) -> bool:
    """True if a record has the list and the values of the one before, hence its probabilities."""
    # Of codes, shape (u, n), only the variables `some` matter; codes from `values` on are no value:
    # all count as equal.
    if index == 0 or lists.begin[index] != lists.begin[index - 1]:
        return False
    if lists.sizes[index] != lists.sizes[index - 1]:
        return False
    before, record = lists.records[index - 1], lists.records[index]
    for unit in some:
        one, two = codes[unit, before], codes[unit, record]
        if one != two and min(one, two) < values[unit]:
            return False
    return True


@jit_no_refcount
def count_values(
    lists: Lists,
    index: int,
    codes: Integers32,
    values: int,
    q: float,
    counts: Floats,
    touched: Integers32,
) -> int:
    """Count the values of a record's donors; fills `counts`, all 0 before, and `touched`."""
    # Codes are below `values`, V. At q 0 no donor is looked at, below 1 the own value is touched.
    # The first V numbers of the first of LANES rows of counts are filled; touched, of V + 1 or
    # more, gets the values that have a chance, each once, and perhaps the own one. The answer is
    # how many are touched.
    own = codes[lists.records[index]]
    begin = lists.begin[index]
    size = lists.sizes[index] if q > 0 else 0
    first = counts[0]
    used = 0
    if len(lists.weights) == 0 and values < size:  # then most values are touched
        # in four rows at once: adding to one number again and again would wait each time
        second, third, fourth = counts[1], counts[2], counts[3]
        end = begin + size
        even = end - size % LANES
        for entry in range(begin, even, LANES):
            first[codes[lists.members[entry]]] += 1.0
            second[codes[lists.members[entry + 1]]] += 1.0
            third[codes[lists.members[entry + 2]]] += 1.0
            fourth[codes[lists.members[entry + 3]]] += 1.0
        for entry in range(even, end):
            first[codes[lists.members[entry]]] += 1.0
        for code in range(values):
            first[code] += second[code] + third[code] + fourth[code]
            second[code] = third[code] = fourth[code] = 0.0
        for code in range(values):
            touched[used] = code
            used += first[code] > 0
    else:
        for entry in range(begin, begin + size):
            code = codes[lists.members[entry]]
            touched[used] = code
            used += first[code] == 0
            first[code] += lists.weights[entry] if len(lists.weights) else 1.0
    if q < 1 and first[own] == 0:
        touched[used] = own
        used += 1
    if lists.itself and q > 0:
        first[own] -= 1  # it is in its list, and no donor of its own
    return used


@jit_inline
def value_probability(code: int, own: int, count: float, total: float, q: float) -> float:
    """P(the released value is this one)."""
    own_chance = 1 - q if code == own else 0.0
    return own_chance + q * (count / total)


@jit_entry
def mark_values(
    lists: Lists,
    codes: Integers32,
    q: Floats,
    some: Integers,
    starts: Integers,
    support: Integers,
    first: int,
    last: int,
) -> None:
    """Count the records that may release each value."""
    # Shapes: codes (u, n), of which the variables `some` are looked at; q (u,); starts (u + 1,):
    # where each variable's values begin in `support`, which is added to.
    seen = np.full(len(support), -1, np.int64)  # by which record last
    values = np.empty(len(codes), np.int64)
    index = first
    for unit in range(len(codes)):
        values[unit] = starts[unit + 1] - starts[unit]
    while index < last:
        record = lists.records[index]
        begin = lists.begin[index]
        end = begin + lists.sizes[index]
        identical = 1
        while index + identical < last and is_twin(lists, index + identical, codes, values, some):
            identical += 1
        for unit in some:
            mine = codes[unit]
            latest = seen[starts[unit] : starts[unit + 1]]
            marks = support[starts[unit] : starts[unit + 1]]
            if q[unit] < 1:
                latest[mine[record]] = index
                marks[mine[record]] += identical
            if q[unit] > 0:
                for entry in range(begin, end):
                    member = lists.members[entry]
                    code = mine[member]
                    if latest[code] != index and not (lists.itself and member == record):
                        latest[code] = index
                        marks[code] += identical
        index += identical


class ChanceEntries(NamedTuple):
    """The entries of a sparse table of chances, with room for more."""

    starts: Integers  # shape (r,): where each record's entries begin
    used: Integers  # shape (r,): how many it has
    columns: Integers32  # the numbers of values
    chances: Floats


@jit_entry
def fill_chances(
    lists: Lists,
    codes: Integers32,
    q: float,
    values: int,
    entries: ChanceEntries,
    first: int,
    last: int,
) -> None:
    """The chances of the values that some records may release, in ascending order of values."""
    # `values` is how many there are.
    starts = entries.starts
    columns = entries.columns
    chances = entries.chances
    room = np.zeros((LANES, values))
    touched = np.empty(values + 1, np.int32)
    counts = room[0]
    for index in range(first, last):
        own = codes[lists.records[index]]
        total = lists.totals[index]
        at = starts[index]
        for entry in range(count_values(lists, index, codes, values, q, room, touched)):
            code = touched[entry]
            chance = value_probability(code, own, counts[code], total, q)
            counts[code] = 0
            if chance > 0:
                columns[at] = code
                chances[at] = chance
                at += 1
        sort_pairs(columns, chances, starts[index], at)
        entries.used[index] = at - starts[index]


@jit_entry
def equal_value_shares(
    lists: Lists, codes: Integers32, shares: Floats, first: int, last: int
) -> None:
    """P(the donor has the record's own value), for records at some positions."""
    # Shapes: codes (u, n); shares (u, n), filled.
    for index in range(first, last):
        record = lists.records[index]
        begin = lists.begin[index]
        for unit in range(len(codes)):
            mine = codes[unit]
            equal = -1.0 if lists.itself else 0.0
            own = mine[record]
            for entry in range(begin, begin + lists.sizes[index]):
                if mine[lists.members[entry]] == own:
                    equal += lists.weights[entry] if len(lists.weights) else 1.0
            shares[unit, record] = equal / lists.totals[index]


@jit_entry
def add_received(lists: Lists, received: Floats) -> None:
    """Add to every donor what the records of some lists are expected to take from it."""
    # Shape: received (n,).
    for index in range(len(lists.records)):
        record = lists.records[index]
        begin = lists.begin[index]
        share = 1 / lists.totals[index]
        for entry in range(begin, begin + lists.sizes[index]):
            weight = lists.weights[entry] if len(lists.weights) else share
            received[lists.members[entry]] += weight
        if lists.itself:
            received[record] -= share


@jit_entry
def list_received(
    lists: Lists, position: Integers32, first: int, last: int
) -> tuple[Integers32, Integers32, Floats]:
    """List what the records of some lists are expected to take from some people."""
    # `position`, shape (n,), is each record's number among those people, -1 for any other. A share
    # is P(the person is the record's donor).
    room = np.int64(last - first)
    taker, person, share = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
    used = ZERO
    for index in range(first, last):
        record = lists.records[index]
        begin = lists.begin[index]
        total = lists.totals[index]
        if used + lists.sizes[index] > room:
            room = 2 * (used + lists.sizes[index])
            taker, person = longer(taker, used, room), longer(person, used, room)
            share = longer(share, used, room)
        for entry in range(begin, begin + lists.sizes[index]):
            member = lists.members[entry]
            if position[member] >= 0 and not (lists.itself and member == record):
                taker[used] = record
                person[used] = position[member]
                share[used] = (lists.weights[entry] if len(lists.weights) else 1.0) / total
                used += 1
    return longer(taker, used, used), longer(person, used, used), longer(share, used, used)


@jit_internal
def longer(numbers: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    """Return the first numbers of an array in a new one of another length."""
    # Shapes: numbers (at least used,); the answer (room,).
    more = np.empty(room, numbers.dtype)
    for at in range(used):  # a slice on the left compiles for seconds
        more[at] = numbers[at]
    return more


class Columns(NamedTuple):
    """A sparse array by columns; the rows of each are in order."""

    starts: Integers32  # shape (columns + 1,)
    rows: Integers32  # shape (entries,)
    values: Floats  # shape (entries,)


@jit_no_refcount
def _add_up(counts: Integers) -> None:
    """Add to each number all those before it."""
    for place in range(1, len(counts)):
        counts[place] += counts[place - 1]


@jit_entry
def columns_in_order(
    record: Integers32, column: Integers32, value: Floats, row: Integers32, shape: tuple[int, int]
) -> Columns:
    """Sort pairs by their columns, and within each by their rows, without those of value 0."""
    # As `pairs_as_columns`. Each pair has its place by counts of those before it: of its row,
    # unless pairs come in the order of rows, and then of its column.
    pairs = len(record)
    before_row = np.zeros(shape[0] + 1, np.int64)
    before_column = np.zeros(shape[1] + 1, np.int64)
    in_order = True
    last = 0
    for pair in range(pairs):
        if value[pair] != 0.0:
            own = row[record[pair]]
            in_order = in_order and own >= last
            last = own
            before_row[own + 1] += 1
            before_column[column[pair] + 1] += 1
    _add_up(before_column)
    count = before_column[shape[1]]
    starts = np.empty(shape[1] + 1, np.int32)
    for place in range(shape[1] + 1):
        starts[place] = before_column[place]

    by_row = np.empty(0 if in_order else count, np.int64)
    if not in_order:
        _add_up(before_row)
        for pair in range(pairs):
            if value[pair] != 0.0:
                own = row[record[pair]]
                by_row[before_row[own]] = pair
                before_row[own] += 1

    rows = np.empty(count, np.int32)
    values = np.empty(count)
    for each in range(pairs if in_order else count):
        pair = each if in_order else by_row[each]
        if value[pair] != 0.0:
            place = before_column[column[pair]]
            rows[place] = row[record[pair]]
            values[place] = value[pair]
            before_column[column[pair]] = place + 1
    return Columns(starts, rows, values)


def pairs_as_columns(
    record: Integers32, column: Integers32, value: Floats, row: Integers32, shape: tuple[int, int]
) -> sparse.csc_array:
    """The pairs, none twice, as columns without zeros; `row` has that of each `record`."""
    if len(value) > np.iinfo(np.int32).max:
        made = sparse.csc_array(sparse.coo_array((value, (row[record], column)), shape=shape))
        made.eliminate_zeros()
        return made
    rows = row.astype(np.int32, copy=False)
    found = columns_in_order(record, column, value, rows, shape)
    made = sparse.csc_array((found.values, found.rows, found.starts), shape=shape)
    made.has_canonical_format = True  # else SciPy looks through all entries
    return made


class WeightedRows(NamedTuple):
    """The rows of a matrix of weights in compressed form."""

    starts: Integers  # shape (rows + 1,)
    members: Integers32  # shape (entries,)
    weights: Floats  # shape (entries,), 0 or more


class Compared(NamedTuple):
    """The values of a unit that records have and rows show, and whose records they are."""

    own: Integers  # shape (n,): the number of each record's values
    shown: Integers  # shape (n,): of each row's, among the same
    persons: Integers  # shape (n,): the number of each record's person


@jit_no_refcount
def _picked(
    lists: WeightedRows, row: int, labels: Integers, label: int, same: bool, number: float
) -> int:
    """Return a member of a row by weights, of those with a label or without it; -1 for none."""
    begin = lists.starts[row]
    end = lists.starts[row + 1]
    total = 0.0
    for entry in range(begin, end):
        if (labels[lists.members[entry]] == label) == same:
            total += lists.weights[entry]
    goal = number * total
    chosen = -1
    reached = 0.0
    for entry in range(begin, end):
        weight = lists.weights[entry]
        if (labels[lists.members[entry]] == label) == same and weight > 0.0:
            chosen = lists.members[entry]
            reached += weight
            if reached > goal:
                break
    return chosen


@jit_entry
def pick_donors(
    lists: WeightedRows,
    compared: Compared,
    q: float,
    numbers: Floats,
    donors: Integers,
    others: Integers,
) -> None:
    """Write each row's donor with the values that it shows, and another person's record instead."""
    # Shapes: numbers (3, n), uniform: for the donor, for whether the row kept its own values, and
    # for the other record; donors, others (n,), -1 where there is none.
    for row in range(len(donors)):
        shown = compared.shown[row]
        given = 0.0
        for entry in range(lists.starts[row], lists.starts[row + 1]):
            if compared.own[lists.members[entry]] == shown:
                given += lists.weights[entry]
        kept = (1.0 - q) if compared.own[row] == shown else 0.0
        donors[row] = -1
        others[row] = -1
        if numbers[1, row] * (q * given + kept) >= kept:
            donors[row] = _picked(lists, row, compared.own, shown, True, numbers[0, row])
        if donors[row] >= 0:
            person = compared.persons[donors[row]]
            others[row] = _picked(lists, row, compared.persons, person, False, numbers[2, row])


class Contents(NamedTuple):
    """The values of the first slice as numbers, and the person behind each record and row."""

    own: Integers  # shape (n,): of each record
    shown: Integers  # shape (n,): of each row, -1 for that of no record
    persons: Integers  # shape (n,): the number of each record's person
    givers: Integers  # shape (units, n): the person of each row's donor, -1 for none
    chances: Floats  # shape (contents,): 1 over how many records and rows have each


@jit_entry
def pick_rows(
    lists: WeightedRows,
    contents: Contents,
    without: Integers,
    rows: Integers,
    numbers: Floats,
    found: Integers,
    first: int,
    last: int,
) -> None:
    """Pick a row in place of another one, by the chance that its record gives their contents."""
    # Shapes: without, rows, numbers, found (c,): the omitted person, the row, a uniform number,
    # and the row instead; -1 for none.
    own = contents.own
    shown = contents.shown
    of_content = np.zeros(len(contents.chances))
    weights = np.empty(len(shown))
    for place in range(first, last):
        begin = lists.starts[rows[place]]
        end = lists.starts[rows[place] + 1]
        for entry in range(begin, end):
            of_content[own[lists.members[entry]]] += lists.weights[entry]

        # the probability of each row that shows no value of the omitted person
        person = without[place]
        total = 0.0
        for row in range(len(shown)):
            weights[row] = 0.0
            if shown[row] < 0 or contents.persons[row] == person:
                continue
            gave = False
            for unit in range(len(contents.givers)):
                gave = gave or contents.givers[unit, row] == person
            if not gave:
                weights[row] = of_content[shown[row]] * contents.chances[shown[row]]
                total += weights[row]

        # the row in whose part of them the number falls
        goal = numbers[place] * total
        found[place] = -1
        reached = 0.0
        for row in range(len(shown)):
            if weights[row] > 0.0:
                found[place] = row
                reached += weights[row]
                if reached > goal:
                    break

        for entry in range(begin, end):
            of_content[own[lists.members[entry]]] = 0.0
