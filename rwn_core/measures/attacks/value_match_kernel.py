"""Numbers the combinations of values in sets of columns, and finds rows that have known ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.laws.value_counts_kernel import longer
from rwn_core.parallel.jit import jit_entry, jit_inline

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
