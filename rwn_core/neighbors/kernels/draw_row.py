"""From a ranked row to its donors, and to its row of a neighbor table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import SearchResult, Side, Wanted
from rwn_core.neighbors.kernels.chacha import UNIFORMS, ranks_of_streams
from rwn_core.neighbors.kernels.rank_row import Ranked, end_of_tie, entry_of, has_ties, tied_records
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH
from rwn_core.parallel.jit import jit_internal, jit_no_refcount

KEPT, NOBODY = 0, -1  # in place of a rank


@jit_internal
def member_of(
    target: Side,
    row: Ranked,
    kept: int,
    rank: int,
    own: int,
    first: NDArray[np.int32],
    pool: NDArray[np.int32],
) -> int:
    """The member of a rank, counted from 1 and without the record itself.

    Parameters
    ----------
    target : Side
    row : Ranked
        The record's own row, if the target has it, is in the first tie: at distance 0.
    kept, rank : int
    own : int
        The record among those of the target; -1 if it is none of them.
    first : ndarray of int32
        The records of the first tie.
    pool : ndarray of int32
    """
    if own >= 0:
        if rank < len(first):
            return int(first[rank - 1] if first[rank - 1] < own else first[rank])
        rank += 1
    entry = entry_of(row, kept, rank)
    head = row.head[entry]
    before = row.weight[head - 1] if head > 0 else 0
    if head == entry and (entry + 1 == kept or row.head[entry + 1] > entry):
        return int(target.records[target.offsets[row.position[entry]] + rank - before - 1])
    return int(tied_records(target, row, kept, head, pool)[rank - before - 1])


@jit_internal
def pool_for(row: Ranked, kept: int) -> NDArray[np.int32]:
    """Room for the ties of a row, if it has any."""
    return np.empty(row.weight[kept - 1] if kept and has_ties(row, kept) else 0, np.int32)


class Ranks(NamedTuple):
    """Room to draw the ranks of one record's donors.

    Attributes
    ----------
    ranks, modify : ndarray of float64, shape (a multiple of VECTOR_WIDTH,)
        Of each column, its donor's rank and the number that decides whether it is modified.
    unit : ndarray of float64, shape (8, VECTOR_WIDTH)
    """

    ranks: NDArray[np.float64]
    modify: NDArray[np.float64]
    unit: NDArray[np.float64]


@jit_internal
def ranks_for(wanted: Wanted) -> Ranks:
    """Room for the columns that are asked for."""
    columns = len(wanted.words)
    return Ranks(np.empty(columns), np.empty(columns), np.empty((UNIFORMS, VECTOR_WIDTH)))


@jit_no_refcount
def draw_ranks(wanted: Wanted, number: int, size: int, room: Ranks) -> None:
    """Draw the rank of each of a record's donors: KEPT or NOBODY, or from 1 to its size.

    Parameters
    ----------
    wanted : Wanted
    number : int
        The record's number in the whole table.
    size : int
    room : Ranks
        Its ranks are filled.
    """
    ranks_of_streams(wanted.key, number, wanted.words, size, room.modify, room.ranks, room.unit)
    for column in range(len(wanted.streams)):
        if not room.modify[column] < wanted.q[column]:
            room.ranks[column] = KEPT
        elif size == 0:
            room.ranks[column] = NOBODY


@jit_internal
def draw_row(
    query: Side,
    position: int,
    target: Side,
    kept: int,
    row: Ranked,
    wanted: Wanted,
    result: SearchResult,
    governed: bool,
) -> None:
    """Draw the donors of a query row's records, whose sizes are known.

    Parameters
    ----------
    query : Side
    position : int
        Of the row in `query`.
    target : Side
    kept : int
    row : Ranked
    wanted : Wanted
    result : SearchResult
    governed : bool
        Only the records that k governs, or only the others.
    """
    pool = pool_for(row, kept)
    first = tied_records(target, row, kept, 0, pool) if kept else pool
    room = ranks_for(wanted)
    for index in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[index]
        if (result.within[record] < wanted.k) != governed:
            continue
        own, number = wanted.own[record], query.numbers[record]
        draw_ranks(wanted, number, result.sizes[record], room)
        for column in range(len(wanted.streams)):
            rank = int(room.ranks[column])
            donor = number if rank == KEPT else NOBODY
            if rank > 0:
                donor = target.numbers[member_of(target, row, kept, rank, own, first, pool)]
            result.donors[record, column] = donor


@jit_no_refcount
def has_no_clones(query: Side, position: int, row: Ranked, kept: int) -> bool:
    """Whether neither the query row nor any of its candidates has clones, and none of them tie."""
    alone = query.offsets[position + 1] - query.offsets[position] == 1
    return bool(alone and row.weight[kept - 1] == kept and not has_ties(row, kept))


@jit_no_refcount
def draw_without_clones(
    query: Side,
    position: int,
    target: Side,
    row: Ranked,
    room: Ranks,
    wanted: Wanted,
    result: SearchResult,
) -> None:
    """`draw_row` of a row without clones or ties: its entries' records are the members in order."""
    record = query.records[query.offsets[position]]
    number = query.numbers[record]
    itself = wanted.own[record] >= 0  # then it is the first entry: nobody else is at distance 0
    draw_ranks(wanted, number, result.sizes[record], room)
    for column in range(len(wanted.streams)):
        rank = int(room.ranks[column])
        donor = number if rank == KEPT else NOBODY
        if rank > 0:
            donor = target.firsts[row.position[rank if itself else rank - 1]]
        result.donors[record, column] = donor


@jit_internal
def store_row(
    query: Side,
    position: int,
    target: Side,
    kept: int,
    row: Ranked,
    wanted: Wanted,
    result: SearchResult,
    governed: bool,
) -> None:
    """Write the members of a query row's records, whose sizes are known, in rank order."""
    pool = pool_for(row, kept)
    for entry in range(query.offsets[position], query.offsets[position + 1]):
        record = query.records[entry]
        if (result.within[record] < wanted.k) != governed:
            continue
        index, stop = result.starts[record], result.starts[record + 1]
        own, head = wanted.own[record], 0
        while index < stop:
            for other in tied_records(target, row, kept, head, pool):
                if other != own:
                    result.members[index] = other
                    result.squared[index] = row.squared[head]
                    index += 1
            head = end_of_tie(row, kept, head) + 1
