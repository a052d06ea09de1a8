"""Name each person's modal value, and find rows that have known combinations of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.laws.value_counts_kernel import longer
from rwn_core.neighbors.rank_kernel import sort_pairs
from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_internal, jit_no_refcount

Starts = NDArray[np.int64]
Places = NDArray[np.int64]
Numbers = NDArray[np.float64]
MOST = 8  # times as many values as have a mass, up to which all are looked at in their order


@jit_no_refcount
def _add_up(
    classes: Places,
    weights: Numbers,
    held: tuple[Starts, Places, Numbers],
    mass: Numbers,
    some: Places,
) -> int:
    """Add up the mass of each value; how many have one, the first entries of `some`."""
    starts, values, counts = held
    used = 0
    for entry in range(len(classes)):
        if weights[entry] <= 0:
            continue
        for at in range(starts[classes[entry]], starts[classes[entry] + 1]):
            some[used] = values[at]
            used += mass[values[at]] == 0
            mass[values[at]] += weights[entry] * counts[at]
    return used


@jit_internal
def _in_order(mass: Numbers, used: int, some: Places, masses: Numbers) -> int:
    """Sort the values that have a mass, and their masses with them."""
    count = used
    if used * MOST < len(mass):
        for at in range(used):
            masses[at] = mass[some[at]]
            mass[some[at]] = 0.0
        sort_pairs(some, masses, ZERO, used)
    else:
        count = 0
        for value in range(len(mass)):
            some[count], masses[count] = value, mass[value]
            count += mass[value] > 0
            mass[value] = 0.0
    return count


@jit_no_refcount
def _within_reach(
    some: Places, masses: Numbers, count: int, reach: tuple[Places, Places], near: Numbers
) -> float:
    """The mass within reach of each value, in `near`; the largest of them."""
    first, beyond = reach
    below, low, high, best = 0.0, 0, 0, 0.0
    up_to = 0.0
    for at in range(count):
        while high < count and some[high] < beyond[some[at]]:
            up_to += masses[high]
            high += 1
        while some[low] < first[some[at]]:
            below += masses[low]
            low += 1
        near[at] = up_to - below
        best = max(best, near[at])
    return best


@jit_entry
def likeliest(
    starts: Starts,
    classes: Places,
    weights: Numbers,
    held: tuple[Starts, Places, Numbers],
    reach: tuple[Places, Places],
    even: float,
) -> tuple[Places, Places]:
    """Return the values with most mass within reach and their persons; none without a mass."""
    # `starts`: where each person's classes of rows begin, whose `weights` are what a row counts, 0
    # or more. `held`: where each class' values begin, those of V values that its rows have, and how
    # many rows have each. `reach`: the first value within reach of each value, and the first
    # beyond. Two masses that differ by `even` of one count as equal: both are named.
    size, people = len(reach[0]), len(starts) - 1
    mass, masses, near = np.zeros(size), np.empty(size + 1), np.empty(size)
    some = np.empty(size + 1, np.int64)
    person, value, named = np.empty(people, np.int64), np.empty(people, np.int64), ZERO
    for one in range(people):
        own = slice(starts[one], starts[one + 1])
        used = _add_up(classes[own], weights[own], held, mass, some)
        count = _in_order(mass, used, some, masses)
        best = _within_reach(some, masses, count, reach, near)
        for at in range(count):
            if near[at] < best * (1 - even):
                continue
            if named == len(person):
                person, value = longer(person, named, 2 * named), longer(value, named, 2 * named)
            person[named], value[named] = one, some[at]
            named += 1
    return person[:named], value[:named]


Codes = NDArray[np.int64]
Slots = NDArray[np.int32]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ROOM = 4  # slots for each known combination, at least
_FIRST = 1024  # matches that there is room for at first


@jit_inline
def _slot(code: int, slots: Slots) -> Any:
    """Return the slot at which the search for a combination begins."""
    # a product with an odd number spreads the codes over its high bits
    return np.int64((np.uint64(code) * _ODD) >> np.uint64(32)) & (len(slots) - 1)


@jit_entry
def combinations(columns: Codes, sizes: Codes, sets: Codes, offsets: Codes) -> Codes:
    """Number the values of each set and row, shape (sets, m); -1 where one is missing."""
    # columns (v, m) from 0, -1 where missing; sizes (v,): one more than the largest value of each;
    # sets (sets, 3): columns by position; offsets (sets,) are added, so that no number stands for
    # two sets.
    codes = np.empty((len(sets), columns.shape[1]), np.int64)
    for number in range(len(sets)):
        first, second, third = sets[number]
        one, two, three = columns[first], columns[second], columns[third]
        for row in range(columns.shape[1]):
            code = (one[row] * sizes[second] + two[row]) * sizes[third] + three[row]
            missing = (one[row] | two[row] | three[row]) < 0
            codes[number, row] = -1 if missing else code + offsets[number]
    return codes


@jit_entry
def slot_table(known: Codes) -> Slots:
    """A table of the places of known combinations, -1 where there is none: see `find_known`."""
    # `known`, shape (u,), has each once.
    size = 1
    while size < _ROOM * len(known):
        size *= 2
    slots = np.full(size, -1, np.int32)
    for place in range(len(known)):
        slot = _slot(known[place], slots)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = place
    return slots


@jit_entry
def find_known(codes: Codes, known: Codes, slots: Slots) -> tuple[Codes, Codes]:
    """Return the rows that have known combinations, set by set, and the place of each."""
    # codes (sets, m) are from `combinations`, slots from `slot_table`.
    rows, places, count = np.empty(_FIRST, np.int64), np.empty(_FIRST, np.int64), 0
    for number in range(len(codes)):
        for row in range(codes.shape[1]):
            code = codes[number, row]
            slot = _slot(code, slots)
            while slots[slot] >= 0 and known[slots[slot]] != code:
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] < 0:
                continue
            if count == len(rows):
                rows, places = longer(rows, count, 2 * count), longer(places, count, 2 * count)
            rows[count], places[count] = row, slots[slot]
            count += 1
    return rows[:count], places[:count]
