"""All records within each record's radius: leaf against leaf, tile by tile."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors.kernels.arrays import SearchResult, Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import (
    RadiusCandidates,
    candidates_for,
    collect,
    count_of,
)
from rwn_core.neighbors.kernels.draw_row import Ranks, ranks_for
from rwn_core.neighbors.kernels.leaf_distances import facing_for
from rwn_core.neighbors.kernels.radius_candidates import gather
from rwn_core.neighbors.kernels.rank_row import Ranked, rank_row, room_for
from rwn_core.neighbors.kernels.rank_select import Buckets, buckets_for
from rwn_core.neighbors.kernels.row_results import may_be_sifted, settle_row, settle_sifted
from rwn_core.parallel.jit import jit_entry, jit_no_refcount


@jit_no_refcount
def _settle_rows(
    query: Side,
    start: int,
    part: tuple[int, int],
    target: Side,
    candidates: RadiusCandidates,
    row: Ranked,
    buckets: Buckets,
    room: Ranks,
    wanted: Wanted,
    result: SearchResult,
) -> int:
    """Settle rows of a leaf that begins at `start`; the row that needs more room, or the end."""
    for index in range(part[0], part[1]):
        count, position = count_of(candidates, index), start + index
        if count > len(row.position):
            return index
        if may_be_sifted(query, position, result) and settle_sifted(
            query, position, target, candidates, index, row, buckets, room, wanted, result
        ):
            continue
        collect(candidates, index, row)
        kept = rank_row(query.exact[position], target, wanted.edges[position], count, row)
        settle_row(query, position, target, kept, row, wanted, result)
    return part[1]


@jit_entry
def radius_query(
    query: Side, target: Side, wanted: Wanted, result: SearchResult, first: int, last: int
) -> None:
    """Search within the radii of the query leaves `first` to `last` - 1, and settle their records.

    Parameters
    ----------
    query, target : Side
        In the same rotated coordinates; they may be the same.
    wanted : Wanted
    result : SearchResult
        Filled for the leaves' records.
    first, last : int
    """
    leaves, width = len(query.starts) // 2, query.tiles.shape[2]
    candidates, row = candidates_for(target, width), room_for(1024)
    buckets, facing = buckets_for(1024), facing_for(query, target)
    room = ranks_for(wanted)
    near = np.empty(len(target.starts) // 2, np.int32)
    parts = np.empty((64, 2), np.int64)
    for leaf in range(first, last):
        node = leaves - 1 + leaf
        start, size = query.starts[node], query.starts[node + 1] - query.starts[node]
        waiting = 1
        parts[0, 0], parts[0, 1] = 0, size
        while waiting > 0:
            waiting -= 1
            begin, end = parts[waiting, 0], parts[waiting, 1]
            if not gather(query, leaf, (begin, end), target, near, wanted, facing, candidates):
                middle = (begin + end) >> 1  # too many candidates at once: half of the rows
                parts[waiting, 0], parts[waiting, 1] = begin, middle
                parts[waiting + 1, 0], parts[waiting + 1, 1] = middle, end
                waiting += 2
                continue
            done = begin
            while True:
                done = _settle_rows(
                    query,
                    start,
                    (done, end),
                    target,
                    candidates,
                    row,
                    buckets,
                    room,
                    wanted,
                    result,
                )
                if done == end:
                    break
                needed = 2 * count_of(candidates, done)
                row, buckets = room_for(needed), buckets_for(needed)
