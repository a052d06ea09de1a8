"""All records within each record's radius: leaf against leaf, tile by tile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels import compiled, lean, merged
from rwn_core.neighbors.kernels.arrays import SearchResult, Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import (
    NONE,
    RadiusCandidates,
    candidates_for,
    collect,
    count_of,
)
from rwn_core.neighbors.kernels.draw_row import Ranks, ranks_for
from rwn_core.neighbors.kernels.error_bound import SLACK, widened_edge
from rwn_core.neighbors.kernels.leaf_distances import (
    Facing,
    copy_kept,
    error_between,
    facing_for,
    leaves_near,
    look,
    product_at,
    scan,
    set_points,
)
from rwn_core.neighbors.kernels.rank_row import Ranked, rank_row, room_for
from rwn_core.neighbors.kernels.rank_select import Buckets, buckets_for
from rwn_core.neighbors.kernels.row_results import may_be_sifted, settle_row, settle_sifted


@lean
def set_edges(
    query: Side, leaf: int, part: tuple[int, int], wanted: Wanted, facing: Facing
) -> float:
    """How far some rows of a leaf look, in rotated coordinates; the farthest of them."""
    dimensions = query.centers.shape[1]
    start = query.starts[len(query.tiles) - 1 + leaf]
    norm = query.norms[leaf]
    facing.edges[:] = -1
    longest = -1.0
    for index in range(part[0], part[1]):
        edge = wanted.edges[start + index] * (1 + SLACK)
        facing.edges[index] = widened_edge(edge, norm, dimensions, wanted.unit) * (1 + SLACK)
        longest = max(longest, facing.edges[index])
    return longest


@merged
def _keep_candidates(
    candidates: RadiusCandidates,
    used: int,
    first: int,
    index: int,
    point: int,
    error: float,
    facing: Facing,
) -> int:
    """Add the entries of a tile that were kept to a row's candidates; how many all are now.

    Parameters
    ----------
    candidates : RadiusCandidates
    used : int
        How many they were.
    first : int
        The tile's first position.
    index : int
        The row's.
    point : {0, 1}
        Which of the two of `scan` it was.
    error : float
    facing : Facing
    """
    before = used
    used = copy_kept(facing, index, point, first, candidates.position, candidates.rough, used)
    if used > before:
        run = candidates.runs[0]
        candidates.begin[run], candidates.following[run] = before, candidates.latest[index]
        candidates.latest[index] = run
        candidates.error[index] = max(candidates.error[index], error)
        candidates.runs[0] = run + 1
    return used


@lean
def gather(
    query: Side,
    leaf: int,
    part: tuple[int, int],
    target: Side,
    near: NDArray[np.int32],
    wanted: Wanted,
    facing: Facing,
    candidates: RadiusCandidates,
) -> bool:
    """Collect the candidates of some rows of a leaf; whether there was room for them."""
    start = query.starts[len(query.tiles) - 1 + leaf]
    width = target.tiles.shape[2]
    inner, used = len(target.tiles) - 1, 0
    candidates.latest[:] = NONE
    candidates.error[:] = 0.0
    candidates.runs[0] = 0
    for other in near:
        rows = look(facing, part[1], target, other)
        if rows == 0:
            continue
        first = target.starts[inner + other]
        error = error_between(query, leaf, target, other, wanted.unit)
        for row in range(0, rows, 2):
            one, two = facing.near[row], facing.near[min(row + 1, rows - 1)]
            if used + 2 * width > len(candidates.position) or candidates.runs[0] + 3 > len(
                candidates.begin
            ):
                return False
            bound = wanted.edges[start + one] * (1 + SLACK) + error
            bound_of_two = wanted.edges[start + two] * (1 + SLACK) + error
            most = product_at(facing, one, bound)
            most_of_two = product_at(facing, two, bound_of_two)
            scan(facing, one, two, target, other, most, most_of_two)
            used = _keep_candidates(candidates, used, first, one, 0, error, facing)
            if two != one:
                used = _keep_candidates(candidates, used, first, two, 1, error, facing)
    candidates.begin[candidates.runs[0]] = used
    return True


@lean
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


@compiled
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
    leaves, _, width = query.tiles.shape
    candidates, row = candidates_for(target, width), room_for(1024)
    buckets, facing = buckets_for(1024), facing_for(query, target)
    room = ranks_for(wanted)
    near = np.empty(len(target.tiles), np.int32)
    parts = np.empty((64, 2), np.int64)
    for leaf in range(first, last):
        node = leaves - 1 + leaf
        start, size = query.starts[node], query.starts[node + 1] - query.starts[node]
        set_points(query, leaf, facing)
        bound = set_edges(query, leaf, (0, size), wanted, facing)
        count = leaves_near(target, query.centers[leaf], query.halves[leaf], bound, near)
        around = near[:count]
        waiting = 1
        parts[0, 0], parts[0, 1] = 0, size
        while waiting > 0:
            waiting -= 1
            begin, end = parts[waiting, 0], parts[waiting, 1]
            set_edges(query, leaf, (begin, end), wanted, facing)
            if not gather(query, leaf, (begin, end), target, around, wanted, facing, candidates):
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
