"""Groups identical rows by hashing, in one pass over the table."""

from __future__ import annotations

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_internal


@jit_internal
def _hash_row(words: NDArray[np.uint64], row: int) -> np.uint64:
    # the finalizer of splitmix64, chained over the columns
    mixed = uint64(0x9E3779B97F4A7C15)
    for column in range(words.shape[1]):
        mixed = mixed ^ words[row, column]
        mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> uint64(31))
    return mixed


@jit_internal
def _same_row(words: NDArray[np.uint64], one: int, two: int) -> bool:
    for column in range(words.shape[1]):
        if words[one, column] != words[two, column]:
            return False
    return True


@jit_entry
def group_rows(
    words: NDArray[np.uint64], slots: NDArray[np.int32], group: NDArray[np.int32]
) -> int:
    """Number the distinct rows in the order in which they first occur.

    Parameters
    ----------
    words : ndarray of uint64, shape (n, d)
        The bits of the table, row by row.
    slots : ndarray of int32, shape (power of two of at least 2 n,)
        Room for the hash table, all -1; a slot holds the first record of its row.
    group : ndarray of int32, shape (n,)
        Filled with each record's row number.

    Returns
    -------
    int
        The number of distinct rows.
    """
    mask = uint64(len(slots) - 1)
    groups = 0
    for record in range(len(words)):
        slot = _hash_row(words, record) & mask
        while slots[slot] >= 0 and not _same_row(words, slots[slot], record):
            slot = (slot + uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = record
            group[record] = groups
            groups += 1
        else:
            group[record] = group[slots[slot]]
    return groups
