"""Compiled merging of lists of neighbors, so that each pair is in both rows or in none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.rank_kernel import sort_pairs
from rwn_core.parallel.jit import jit_entry


@jit_entry
def place_entries(
    rows: NDArray[np.int32],
    records: NDArray[np.int32],
    squared: NDArray[np.float64],
    ends: NDArray[np.int64],
    members: NDArray[np.int32],
    distances: NDArray[np.float64],
) -> None:
    """Put entries into their rows; `ends` holds where each row begins, and is moved to its end."""
    for entry in range(len(rows)):
        place = ends[rows[entry]]
        ends[rows[entry]] = place + 1
        members[place] = records[entry]
        distances[place] = squared[entry]


@jit_entry
def drop_listed(
    n: int,
    near_starts: NDArray[np.int64],
    near: NDArray[np.int32],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    squared: NDArray[np.float64],
    left: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Keep the members that a row does not hold yet, nearest first, and count them."""
    # `near` is what each row of n records holds, `members` what is added to it, changed in place;
    # `left`, shape (m,), is filled.
    seen = np.full(n, -1, np.int64)
    for row in range(first, last):
        for entry in range(near_starts[row], near_starts[row + 1]):
            seen[near[entry]] = row
        begin = starts[row]
        end = begin
        for entry in range(begin, starts[row + 1]):
            if seen[members[entry]] != row:
                members[end], squared[end] = members[entry], squared[entry]
                end += 1
        sort_pairs(squared, members, begin, end)
        entry = begin
        while entry < end:
            following = entry + 1
            while following < end and squared[following] == squared[entry]:
                following += 1
            sort_pairs(members, squared, entry, following)
            entry = following
        left[row] = end - begin


@jit_entry
def merge_rows(
    near_starts: NDArray[np.int64],
    near: NDArray[np.int32],
    near_squared: NDArray[np.float64],
    added_starts: NDArray[np.int64],
    added: NDArray[np.int32],
    added_squared: NDArray[np.float64],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    squared: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Merge two lists of each row by distance, then record, into rows from `starts` on."""
    for row in range(first, last):
        one, end = near_starts[row], near_starts[row + 1]
        other = added_starts[row]
        stop = other + (starts[row + 1] - starts[row]) - (end - one)
        for place in range(starts[row], starts[row + 1]):
            if other < stop and (
                one == end
                or added_squared[other] < near_squared[one]
                or (added_squared[other] == near_squared[one] and added[other] < near[one])
            ):
                members[place], squared[place] = added[other], added_squared[other]
                other += 1
            else:
                members[place], squared[place] = near[one], near_squared[one]
                one += 1
