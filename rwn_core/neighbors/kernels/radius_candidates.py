"""Who may lie within the radius of the rows of one leaf: tile by tile, pass by pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.agreement import copy_agreeing, shift_of
from rwn_core.neighbors.kernels.arrays import Side, Wanted
from rwn_core.neighbors.kernels.candidate_lists import NONE, RadiusCandidates
from rwn_core.neighbors.kernels.error_bound import SLACK, widened_edge
from rwn_core.neighbors.kernels.leaf_boxes import leaves_near
from rwn_core.neighbors.kernels.leaf_distances import (
    Facing,
    copy_kept,
    error_between,
    look,
    product_at,
    scan,
    set_points,
)
from rwn_core.parallel.jit import jit_inline, jit_no_refcount


@jit_no_refcount
def set_edges(
    query: Side, leaf: int, which: int, part: tuple[int, int], wanted: Wanted, facing: Facing
) -> float:
    """How far some rows of a leaf look in a pass, in rotated coordinates; the farthest of them."""
    dimensions, leaves = query.centers.shape[1], len(query.starts) // 2
    start = query.starts[leaves - 1 + leaf]
    norm = query.norms[which * leaves + leaf]
    facing.edges[:] = -1
    longest = -1.0
    for index in range(part[0], part[1]):
        edge = wanted.edges[start + index] * (1 + SLACK)
        if len(query.levels):
            edge -= shift_of(query, which, start + index)
            if edge < 0:
                continue
        facing.edges[index] = widened_edge(edge, norm, dimensions, wanted.unit) * (1 + SLACK)
        longest = max(longest, facing.edges[index])
    return longest


@jit_inline
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


@jit_inline
def _keep_agreeing(
    candidates: RadiusCandidates,
    used: int,
    query: Side,
    row: int,
    index: int,
    target: Side,
    which: int,
    first: int,
    point: int,
    edge: float,
    facing: Facing,
) -> int:
    """`_keep_candidates` where categories are coded: exact distances, of who is in the pass."""
    before = used
    used = copy_agreeing(
        query,
        row,
        target,
        which,
        facing,
        point,
        first,
        edge * (1 + SLACK),
        candidates.position,
        candidates.rough,
        used,
    )
    if used > before:
        run = candidates.runs[0]
        candidates.begin[run], candidates.following[run] = before, candidates.latest[index]
        candidates.latest[index] = run
        candidates.runs[0] = run + 1
    return used


@jit_no_refcount
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
    """Collect the candidates of some rows of a leaf; whether there was room for them.

    `near` is room for the numbers of the target's leaves.
    """
    candidates.latest[:] = NONE
    candidates.error[:] = 0.0
    candidates.runs[0] = 0
    used = 0
    for which in range(len(query.shifts)):
        mine = which * (len(query.starts) // 2) + leaf
        set_points(query, mine, facing)
        bound = set_edges(query, leaf, which, part, wanted, facing)
        if bound < 0 and len(query.levels):
            continue
        count = leaves_near(target, which, query.centers[mine], query.halves[mine], bound, near)
        for number in range(count):
            used = _gather_tile(
                query, leaf, which, part, target, near[number], wanted, facing, candidates, used
            )
            if used < 0:
                return False
    candidates.begin[candidates.runs[0]] = used
    return True


@jit_inline
def _gather_tile(
    query: Side,
    leaf: int,
    which: int,
    part: tuple[int, int],
    target: Side,
    other: int,
    wanted: Wanted,
    facing: Facing,
    candidates: RadiusCandidates,
    used: int,
) -> int:
    """Add what one tile has for the rows; how many candidates there are, -1 for no room."""
    leaves, width = len(target.starts) // 2, target.tiles.shape[2]
    start = query.starts[len(query.starts) // 2 - 1 + leaf]
    tile, coded = which * leaves + other, len(target.levels) > 0
    rows = look(facing, 0, part[1], target, tile)
    if rows == 0:
        return used
    first = target.starts[leaves - 1 + other]
    mine = which * (len(query.starts) // 2) + leaf
    error = error_between(query, mine, target, tile, wanted.unit)
    for row in range(0, rows, 2):
        one, two = facing.near[row], facing.near[min(row + 1, rows - 1)]
        if used + 2 * width > len(candidates.position) or candidates.runs[0] + 3 > len(
            candidates.begin
        ):
            return -1
        edge, edge_of_two = wanted.edges[start + one], wanted.edges[start + two]
        bound = edge * (1 + SLACK) + error
        bound_of_two = edge_of_two * (1 + SLACK) + error
        if coded:
            bound -= shift_of(query, which, start + one)
            bound_of_two -= shift_of(query, which, start + two)
        most = product_at(facing, one, bound)
        most_of_two = product_at(facing, two, bound_of_two)
        scan(facing, one, two, target, tile, most, most_of_two)
        if coded:
            used = _keep_agreeing(
                candidates, used, query, start + one, one, target, which, first, 0, edge, facing
            )
        else:
            used = _keep_candidates(candidates, used, first, one, 0, error, facing)
        if two == one:
            continue
        if coded:
            used = _keep_agreeing(
                candidates,
                used,
                query,
                start + two,
                two,
                target,
                which,
                first,
                1,
                edge_of_two,
                facing,
            )
        else:
            used = _keep_candidates(candidates, used, first, two, 1, error, facing)
    return used
