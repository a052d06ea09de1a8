"""Sorting numbers together with what belongs to them, in place, without other memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_internal, jit_no_refcount

SHORT = 16  # entries up to which insertion is fastest


@jit_no_refcount
def insert(keys: NDArray[Any], values: NDArray[Any], start: int, stop: int) -> None:
    """Sort a few, as `sort_pairs` does."""
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
    low, high = 0, count - 1
    while high > low:
        right, left = _partition(keys, values, low, high)
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return keys[rank]
