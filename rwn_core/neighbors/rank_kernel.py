"""Puts rows in rank order: the candidates of a search with their records, and merged lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.neighbors.compressed_rows import Entries, Listed
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.index import IndexArrays
from rwn_core.parallel.jit import ZERO, jit_entry, jit_internal, jit_no_refcount

SHORT = 16  # entries up to which insertion is fastest
TINY = 1e-290  # a number divided by more than this is finite
LARGEST = float(np.finfo(np.float64).max)


class RowRoom(NamedTuple):
    """The room for the records that the candidates of one query row stand for."""

    members: Integers32  # shape (room,): records in rank order
    # shape (room,): their squared distances; those of a tie all carry its smallest one
    distance: Floats
    places: Integers32  # shape (room,): the candidates themselves, sorted by `keys`
    keys: Floats  # shape (room,): their squared distances
    buckets: Integers  # shape (room + 1,): where each bucket of `sort_candidates` ends
    unit: Floats  # shape (8,): the uniform numbers of a block


@jit_internal
def allocate_row(count: int) -> RowRoom:
    """Allocate a row for this many records."""
    return RowRoom(
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count + 1, np.int64),
        np.empty(8),
    )


@jit_no_refcount
def insert(keys: NDArray[Any], values: NDArray[Any], start: int, stop: int) -> None:
    """Sort a few entries, as `sort_pairs` does."""
    # Shapes: keys, values (m,), m at least stop.
    for index in range(start + 1, stop):
        key = keys[index]
        value = values[index]
        hole = index
        while hole > start and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            values[hole] = values[hole - 1]
            hole -= 1
        keys[hole], values[hole] = key, value


@jit_internal
def sort_pairs(keys: NDArray[Any], values: NDArray[Any], start: int, stop: int) -> None:
    """Sort keys[start:stop] ascending, and values with them; equal keys in any order."""
    if stop - start <= SHORT:
        insert(keys, values, start, stop)
        return
    # the longer part waits, the shorter one is next: at most one part for each bit of the length
    waiting = np.empty((64, 2), np.int64)
    depth = 0
    while True:
        while stop - start > SHORT:
            right, left = _partition(keys, values, start, stop - 1)
            if right + 1 - start < stop - left:
                waiting[depth, 0], waiting[depth, 1] = left, stop
                stop = right + 1
            else:
                waiting[depth, 0] = start
                waiting[depth, 1] = right + 1
                start = left
            depth += 1
        insert(keys, values, start, stop)
        if depth == 0:
            return
        depth -= 1
        start, stop = waiting[depth, 0], waiting[depth, 1]


@jit_no_refcount
def _partition(keys: NDArray[Any], values: NDArray[Any], low: int, high: int) -> tuple[int, int]:
    """Part keys[low : high + 1] at a middling one; where the left part ends, the right begins."""
    one, two, three = keys[low], keys[(low + high) >> 1], keys[high]
    if one > two:
        one, two = two, one
    pivot = max(one, min(two, three))
    left, right = low, high
    while left <= right:
        while keys[left] < pivot:
            left += 1
        while keys[right] > pivot:
            right -= 1
        if left <= right:
            keys[left], keys[right] = keys[right], keys[left]
            values[left], values[right] = values[right], values[left]
            left += 1
            right -= 1
    return right, left


@jit_no_refcount
def sort_candidates(found: Integers32, squared: Floats, limit: float, row: RowRoom) -> int:
    """Write the candidates within a limit to a row, sorted by distance; return how many."""
    # Buckets of equal width hold few each, so that one insertion ends the sort.
    count = ZERO
    most = 0.0
    for entry in range(len(found)):
        if squared[entry] <= limit:
            count += 1
            most = max(most, squared[entry])
    last = min(2 * count, len(row.keys)) - 1
    ends = row.buckets
    scale = last / max(most, TINY)
    for bucket in range(last + 2):
        ends[bucket] = 0
    for entry in range(len(found)):
        if squared[entry] <= limit:
            ends[int(squared[entry] * scale) + 1] += 1
    for bucket in range(last):
        ends[bucket + 1] += ends[bucket]
    for entry in range(len(found)):
        if squared[entry] <= limit:
            bucket = int(squared[entry] * scale)
            place = ends[bucket]
            row.keys[place] = squared[entry]
            row.places[place] = found[entry]
            ends[bucket] = place + 1
    start = ZERO
    for bucket in range(last + 1):
        if ends[bucket] - start > SHORT:
            sort_pairs(row.keys, row.places, start, ends[bucket])
        start = ends[bucket]
    insert(row.keys, row.places, ZERO, count)
    return int(count)


@jit_no_refcount
def smallest(keys: NDArray[Any], values: NDArray[Any], count: int, rank: int) -> Any:
    """Put the `rank` + 1 smallest of the first `count` keys first; return the largest of these."""
    # Shapes: keys, values (m,), m at least count.
    low = ZERO
    high = count - 1
    while high > low:
        right, left = _partition(keys, values, low, high)
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return keys[rank]


@jit_no_refcount
def count_records(target: IndexArrays, candidates: Integers32, count: int) -> int:
    """Count the records that candidates stand for."""
    if len(target.records) == len(target.exact):
        return count
    total = 0
    for entry in range(count):
        position = candidates[entry]
        total += target.offsets[position + 1] - target.offsets[position]
    return int(total)


@jit_no_refcount
def list_row(target: IndexArrays, count: int, row: RowRoom) -> int:
    """Write the records of sorted candidates in rank order, ties by number; return how many."""
    positions, squared = row.places, row.keys
    total, entry = ZERO, ZERO
    while entry < count:
        head = squared[entry]
        begin = total
        last = entry
        while True:
            position = positions[last]
            for index in range(target.offsets[position], target.offsets[position + 1]):
                row.members[total] = target.records[index]
                row.distance[total] = head
                total += 1
            if last + 1 == count or squared[last + 1] > squared[last] * (1 + TIE):
                break
            last += 1
        if last > entry:  # the distances of a tie are all the same: any order of them is right
            sort_pairs(row.members, row.distance, begin, total)
        entry = last + 1
    return total


@jit_no_refcount
def count_within(values: NDArray[Any], start: int, stop: int, edge: float, strict: bool) -> int:
    """Count the entries of ascending values[start:stop] that are at most an edge, or below it."""
    # Shapes: values (m,), m at least stop.
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < edge or (values[middle] == edge and not strict):
            low = middle + 1
        else:
            high = middle
    return low - start


@jit_no_refcount
def own_entry(row: RowRoom, total: int, record: int) -> int:
    """Return the entry of a record among those at distance 0, its own; -1 if it is not there."""
    if record < 0 or total == 0:
        return -1
    end = count_within(row.distance, ZERO, total, row.distance[0], False)
    entry = count_within(row.members, ZERO, end, record, True)
    return entry if entry < end and row.members[entry] == record else -1


@jit_entry
def place_entries(entries: Entries, ends: Integers, listed: Listed) -> None:
    """Put entries into their rows; `ends` holds where each row begins, and is moved to its end."""
    for entry in range(len(entries.rows)):
        place = ends[entries.rows[entry]]
        ends[entries.rows[entry]] = place + 1
        listed.records[place] = entries.records[entry]
        listed.squared[place] = entries.squared[entry]


@jit_entry
def drop_listed(n: int, near: Listed, added: Listed, left: Integers, first: int, last: int) -> None:
    """Move the members that a row of n records does not hold yet to its begin, and count them."""
    starts, members, squared = added.starts, added.records, added.squared
    seen = np.full(n, -1, np.int64)
    for row in range(first, last):
        for entry in range(near.starts[row], near.starts[row + 1]):
            seen[near.records[entry]] = row
        end = starts[row]
        for entry in range(starts[row], starts[row + 1]):
            if seen[members[entry]] != row:
                members[end] = members[entry]
                squared[end] = squared[entry]
                end += 1
        left[row] = end - starts[row]


@jit_entry
def merge_rows(near: Listed, added: Listed, merged: Listed, first: int, last: int) -> None:
    """Merge two lists of each row by distance, then record."""
    members, squared = merged.records, merged.squared
    for row in range(first, last):
        begin, stop = merged.starts[row], merged.starts[row + 1]
        own = near.starts[row + 1] - near.starts[row]
        for place in range(stop - begin):
            one, other = near.starts[row] + place, added.starts[row] + place - own
            listed = place < own
            members[begin + place] = near.records[one] if listed else added.records[other]
            squared[begin + place] = near.squared[one] if listed else added.squared[other]
        sort_pairs(squared, members, begin, stop)
        while begin < stop:
            end = begin + 1
            while end < stop and squared[end] == squared[begin]:
                end += 1
            sort_pairs(members, squared, begin, end)
            begin = end


@jit_entry
def sort_rows(listed: Listed, first: int, last: int) -> None:
    """Sort the entries of rows by distance; equal ones in any order.

    Those infinitely far come last, and are entries of no record.
    """
    starts = listed.starts
    longest = 0
    for row in range(first, last):
        longest = max(longest, starts[row + 1] - starts[row])
    room = allocate_row(longest)
    for row in range(first, last):
        begin = starts[row]
        end = starts[row + 1]
        near = sort_candidates(listed.records[begin:end], listed.squared[begin:end], LARGEST, room)
        for place in range(near):
            listed.records[begin + place] = room.places[place]
            listed.squared[begin + place] = room.keys[place]
        for entry in range(begin + near, end):
            listed.records[entry] = -1
            listed.squared[entry] = np.inf


@jit_entry
def rank_ties(listed: Listed, first: int, last: int) -> None:
    """Give sorted entries of a tie its smallest distance, and sort them by record."""
    for row in range(first, last):
        head, end = listed.starts[row], listed.starts[row + 1]
        previous = np.inf
        for entry in range(head, end + 1):
            if entry == end or listed.squared[entry] > previous * (1 + TIE):
                if entry > head + 1:
                    sort_pairs(listed.records, listed.squared, head, entry)
                head = entry
            if entry < end:
                previous = listed.squared[entry]
                listed.squared[entry] = listed.squared[head]
