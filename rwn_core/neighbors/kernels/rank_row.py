"""One row of candidates in rank order: exact distances, ties, multiplicities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.error_bound import SLACK, exact_squared
from rwn_core.neighbors.kernels.sorting import sort_pairs
from rwn_core.parallel.jit import jit_internal, jit_no_refcount


class Ranked(NamedTuple):
    """Room for the candidates of one query row, nearest first.

    Attributes
    ----------
    squared : ndarray of float64, shape (room,)
        Exact squared distances, ascending.
    position : ndarray of int32, shape (room,)
        Rows of the target.
    weight : ndarray of int64, shape (room,)
        How many records the rows up to this one have.
    head : ndarray of int32, shape (room,)
        The entry at which this one's tie begins; its distance counts for all of the tie.
    merged : ndarray of bool, shape (room,)
        At a tie's head: its records are already in the pool.
    rough : ndarray of float64, shape (room,)
        Approximate squared distances, as the search summed them.
    """

    squared: NDArray[np.float64]
    position: NDArray[np.int32]
    weight: NDArray[np.int64]
    head: NDArray[np.int32]
    merged: NDArray[np.bool_]
    rough: NDArray[np.float64]


@jit_internal
def room_for(count: int) -> Ranked:
    """Arrays for this many candidates."""
    return Ranked(
        np.empty(count),
        np.empty(count, np.int32),
        np.empty(count, np.int64),
        np.empty(count, np.int32),
        np.empty(count, np.bool_),
        np.empty(count),
    )


@jit_no_refcount
def rank_row(point: NDArray[np.float64], target: Side, edge: float, count: int, row: Ranked) -> int:
    """Rank the candidates row.position[:count], without those far beyond a radius.

    Parameters
    ----------
    point : ndarray of float64, shape (d,)
    target : Side
    edge : float
        The largest squared distance of a member, unless it ties with one.
    count : int
    row : Ranked

    Returns
    -------
    int
        How many candidates are left.
    """
    kept = 0
    for entry in range(count):
        position = row.position[entry]
        squared = exact_squared(point, target.exact, target.levels, target.squares, position)
        if squared <= edge * (1 + SLACK):
            row.position[kept] = position
            row.squared[kept] = squared
            kept += 1
    sort_pairs(row.squared, row.position, 0, kept)
    weight, head = 0, 0
    for entry in range(kept):
        if entry > 0 and row.squared[entry] > row.squared[entry - 1] * (1 + TIE):
            head = entry
        position = row.position[entry]
        weight += target.offsets[position + 1] - target.offsets[position]
        row.weight[entry] = weight
        row.head[entry] = head
        row.merged[entry] = False
    return kept


@jit_no_refcount
def weight_within(row: Ranked, kept: int, edge: float) -> int:
    """How many records lie within a squared distance, ties with its members included."""
    entry = kept - 1
    while entry >= 0 and row.squared[row.head[entry]] > edge:
        entry -= 1
    return int(row.weight[entry]) if entry >= 0 else 0


@jit_no_refcount
def end_of_tie(row: Ranked, kept: int, head: int) -> int:
    """The last entry of the tie that begins at an entry."""
    entry = head
    while entry + 1 < kept and row.head[entry + 1] == head:
        entry += 1
    return entry


@jit_no_refcount
def entry_of(row: Ranked, kept: int, rank: int) -> int:
    """The entry that holds the record of a rank, counted from 1."""
    low, high = 0, kept - 1
    while low < high:
        middle = (low + high) >> 1
        if row.weight[middle] < rank:
            low = middle + 1
        else:
            high = middle
    return low


@jit_internal
def tied_records(
    target: Side, row: Ranked, kept: int, head: int, pool: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The records of one tie, ascending.

    Parameters
    ----------
    target : Side
    row : Ranked
    kept, head : int
    pool : ndarray of int32, shape (all records of the row,)
        Where the records of ties of several rows are brought together, each tie once.
    """
    last = end_of_tie(row, kept, head)
    if last == head:
        position = row.position[head]
        return target.records[target.offsets[position] : target.offsets[position + 1]]
    begin = row.weight[head - 1] if head > 0 else 0
    together = pool[begin : row.weight[last]]
    if not row.merged[head]:
        filled = 0
        for entry in range(head, last + 1):
            position = row.position[entry]
            for index in range(target.offsets[position], target.offsets[position + 1]):
                together[filled] = target.records[index]
                filled += 1
        together.sort()
        row.merged[head] = True
    return together


@jit_no_refcount
def has_ties(row: Ranked, kept: int) -> bool:
    """Whether rows of different values are equally far."""
    for entry in range(1, kept):
        if row.head[entry] != entry:
            return True
    return False
