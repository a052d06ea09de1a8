"""The members of every record of some leaves, in no order: what counting needs, without ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import (
    NONE,
    RadiusCandidates,
    candidates_for,
    collect,
    count_of,
)
from rwn_core.neighbors.kernels.error_bound import SLACK, exact_squared
from rwn_core.neighbors.kernels.leaf_distances import facing_for
from rwn_core.neighbors.kernels.radius_candidates import gather
from rwn_core.neighbors.kernels.rank_row import Ranked, rank_row, room_for
from rwn_core.parallel.jit import jit_entry, jit_inline, jit_no_refcount


@jit_inline
def _write_within(
    side: Side,
    position: int,
    edge: float,
    candidates: RadiusCandidates,
    index: int,
    members: NDArray[np.int32],
) -> bool:
    """Write down a row's members among its candidates; whether they are as many as there are."""
    sure = np.inf if edge == np.inf else edge - candidates.error[index]
    at, run = 0, candidates.latest[index]
    alone = len(side.offsets) == len(side.records) + 1  # no two records are identical
    while run != NONE:
        for entry in range(candidates.begin[run], candidates.begin[run + 1]):
            other = candidates.position[entry]
            if not candidates.rough[entry] < sure:
                exact = exact_squared(
                    side.exact[position], side.exact, side.levels, side.squares, other
                )
                if edge < exact <= edge * (1 + SLACK):
                    return False  # only the full order settles ties across the edge
                if exact > edge:
                    continue
            if alone:
                if at == len(members):
                    return False
                members[at] = other
                at += 1
                continue
            for twin in range(side.offsets[other], side.offsets[other + 1]):
                if at == len(members):
                    return False
                members[at] = twin
                at += 1
        run = candidates.following[run]
    return at == len(members)


@jit_no_refcount
def _write_ranked(side: Side, row: Ranked, kept: int, members: NDArray[np.int32]) -> bool:
    """Write down the first members of a ranked row; whether there are enough."""
    at = 0
    for entry in range(kept):
        other = row.position[entry]
        for twin in range(side.offsets[other], side.offsets[other + 1]):
            if at < len(members):
                members[at] = twin
                at += 1
    return at == len(members)


@jit_no_refcount
def _write_rows(
    side: Side,
    start: int,
    part: tuple[int, int],
    edges: NDArray[np.float64],
    candidates: RadiusCandidates,
    row: Ranked,
    base: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
) -> int:
    """List rows of a leaf that begins at `start`; the row that needs more room, or the end."""
    for index in range(part[0], part[1]):
        position = start + index
        mine = members[starts[position - base] : starts[position - base + 1]]
        if _write_within(side, position, edges[position], candidates, index, mine):
            continue
        count = count_of(candidates, index)
        if count > len(row.position):
            return index
        collect(candidates, index, row)
        kept = rank_row(side.exact[position], side, edges[position], count, row)
        if not _write_ranked(side, row, kept, mine):
            return NONE
    return part[1]


@jit_entry
def list_members(
    query: Side,
    side: Side,
    wanted: Wanted,
    base: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """List the members of the rows of leaves `first` to `last` - 1, each row itself among them.

    Parameters
    ----------
    query, side : Side
        Of one index: searched among itself.
    wanted : Wanted
        Its edges are those of the neighborhoods, also where k governs them.
    base : int
        The position that `starts` begins with.
    starts : ndarray of int64
        Where each position's list begins, and the last one ends.
    members : ndarray of int32
        Filled with positions in the side's `records`.
    first, last : int
    """
    leaves, width = len(side.starts) // 2, side.tiles.shape[2]
    candidates, row, facing = candidates_for(side, width), room_for(1024), facing_for(query, side)
    near = np.empty(leaves, np.int32)
    parts = np.empty((64, 2), np.int64)
    for leaf in range(first, last):
        node = leaves - 1 + leaf
        start, size = side.starts[node], side.starts[node + 1] - side.starts[node]
        waiting = 1
        parts[0, 0], parts[0, 1] = 0, size
        while waiting > 0:
            waiting -= 1
            begin, end = parts[waiting, 0], parts[waiting, 1]
            if not gather(query, leaf, (begin, end), side, near, wanted, facing, candidates):
                middle = (begin + end) >> 1  # too many candidates at once: half of the rows
                parts[waiting, 0], parts[waiting, 1] = begin, middle
                parts[waiting + 1, 0], parts[waiting + 1, 1] = middle, end
                waiting += 2
                continue
            while begin < end:
                begin = _write_rows(
                    side, start, (begin, end), wanted.edges, candidates, row, base, starts, members
                )
                if begin == NONE:
                    raise ValueError("A neighborhood has fewer members than were counted.")
                if begin < end:
                    row = room_for(2 * count_of(candidates, begin))
