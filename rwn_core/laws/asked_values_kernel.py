"""Count the donors of a record that have each requested value, all variables in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.parallel.jit import jit_inline

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
