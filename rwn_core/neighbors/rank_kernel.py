"""Puts the candidates of one query row in rank order: exact distances, ties, multiplicities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.index_kernel import IndexArrays
from rwn_core.parallel.jit import ZERO, jit_internal, jit_no_refcount

SHORT = 16  # entries up to which insertion is fastest
BUCKETS = 1024  # at most, of about four entries each


class Row(NamedTuple):
    """Room for the candidates of one query row, and for the records that they stand for.

    Attributes
    ----------
    squared : ndarray of float64, shape (room,)
        Exact squared distances.
    position : ndarray of int32, shape (room,)
        Rows of the target.
    members : ndarray of int32, shape (room,)
        Records in rank order.
    distance : ndarray of float64, shape (room,)
        Their squared distances; those of a tie all carry its smallest one.
    starts : ndarray of int64, shape (BUCKETS + 1,)
    """

    squared: NDArray[np.float64]
    position: NDArray[np.int32]
    members: NDArray[np.int32]
    distance: NDArray[np.float64]
    starts: NDArray[np.int64]


@jit_internal
def allocate_row(count: int) -> Row:
    """Allocate a row for this many candidates and records."""
    return Row(
        np.empty(count + 1),
        np.empty(count + 1, np.int32),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(BUCKETS + 1, np.int64),
    )


@jit_no_refcount
def insert(keys: NDArray[Any], values: NDArray[Any], start: int, stop: int) -> None:
    """Sort a few entries, as `sort_pairs` does."""
    for index in range(start + 1, stop):
        key, value = keys[index], values[index]
        hole = index
        while hole > start and keys[hole - 1] > key:
            keys[hole], values[hole] = keys[hole - 1], values[hole - 1]
            hole -= 1
        keys[hole], values[hole] = key, value


@jit_no_refcount
def _median_of_three(keys: NDArray[Any], low: int, high: int) -> Any:
    one, two, three = keys[low], keys[(low + high) >> 1], keys[high]
    if one > two:
        one, two = two, one
    return max(one, min(two, three))


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
                waiting[depth, 0], waiting[depth, 1] = start, right + 1
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
    pivot = _median_of_three(keys, low, high)
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
def smallest(keys: NDArray[Any], values: NDArray[Any], count: int, rank: int) -> Any:
    """Put the `rank` + 1 smallest of the first `count` keys first; return the largest of these."""
    low, high = ZERO, count - 1
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
def copy_row(
    position: NDArray[np.int32], squared: NDArray[np.float64], count: int, limit: float, row: Row
) -> int:
    """Copy candidates that are within a limit into a row; return how many these are."""
    kept = 0
    for entry in range(count):
        row.position[kept], row.squared[kept] = position[entry], squared[entry]
        kept += squared[entry] <= limit
    return kept


@jit_no_refcount
def _bucket(squared: float, scale: float, dimensions: int, count: int) -> int:
    # members crowd at the edge: their number grows like a power of the distance
    share = squared * scale
    if dimensions >= 4:
        share *= share
    if dimensions >= 8:
        share *= share
    return int(min(int(share * count), count - 1))


@jit_no_refcount
def sort_row(kept: int, dimensions: int, row: Row) -> None:
    """Sort the candidates of a row by distance: into buckets first, where there are many."""
    largest = 0.0
    for entry in range(kept):
        largest = max(largest, row.squared[entry])
    if kept <= 2 * SHORT or not 1e-300 < largest < np.inf:
        sort_pairs(row.squared, row.position, ZERO, kept)
        return
    count = 1
    while count < BUCKETS and 4 * count < kept:
        count *= 2
    scale, starts = 1 / largest, row.starts
    for bucket in range(count + 1):
        starts[bucket] = 0
    for entry in range(kept):
        starts[_bucket(row.squared[entry], scale, dimensions, count) + 1] += 1
    for bucket in range(count):
        starts[bucket + 1] += starts[bucket]
    for entry in range(kept):
        bucket = _bucket(row.squared[entry], scale, dimensions, count)
        row.members[starts[bucket]] = row.position[entry]
        row.distance[starts[bucket]] = row.squared[entry]
        starts[bucket] += 1
    begin = ZERO
    for bucket in range(count):  # filling has moved every start to the next one
        sort_pairs(row.distance, row.members, begin, starts[bucket])
        begin = starts[bucket]
    for entry in range(kept):
        row.position[entry], row.squared[entry] = row.members[entry], row.distance[entry]


@jit_no_refcount
def count_records(target: IndexArrays, candidates: NDArray[np.int32], count: int) -> int:
    """Count the records that candidates stand for."""
    if len(target.records) == len(target.exact):
        return count
    total = 0
    for entry in range(count):
        position = candidates[entry]
        total += target.offsets[position + 1] - target.offsets[position]
    return int(total)


@jit_no_refcount
def list_row(target: IndexArrays, kept: int, row: Row) -> int:
    """Write the records of a sorted row in rank order, ties by their numbers; return how many."""
    total, entry = ZERO, ZERO
    while entry < kept:
        head, begin = row.squared[entry], total
        last = entry
        while True:
            position = row.position[last]
            for index in range(target.offsets[position], target.offsets[position + 1]):
                row.members[total], row.distance[total] = target.records[index], head
                total += 1
            if last + 1 == kept or row.squared[last + 1] > row.squared[last] * (1 + TIE):
                break
            last += 1
        if last > entry:  # the distances of a tie are all the same: any order of them is right
            sort_pairs(row.members, row.distance, begin, total)
        entry = last + 1
    return total


@jit_no_refcount
def count_within(distance: NDArray[np.float64], total: int, edge: float) -> int:
    """Count the entries of an ascending row that are at most an edge."""
    low, high = 0, total
    while low < high:
        middle = (low + high) >> 1
        if distance[middle] <= edge:
            low = middle + 1
        else:
            high = middle
    return low


@jit_no_refcount
def own_entry(row: Row, total: int, record: int) -> int:
    """Return the entry of a record among those at distance 0, its own; -1 if it is not there."""
    if record < 0 or total == 0:
        return -1
    low, high = 0, count_within(row.distance, total, row.distance[0])
    end = high
    while low < high:
        middle = (low + high) >> 1
        if row.members[middle] < record:
            low = middle + 1
        else:
            high = middle
    return low if low < end and row.members[low] == record else -1
