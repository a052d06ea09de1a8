"""One search: leaf against leaf, rough distances first, then each row in exact rank order.

Where categories are coded, a search makes passes over them. In pass w two rows agree in those
categories with a set bit in w, and differ in the others. Then their squared distance is that
of points without dummies, those of the query row and of the target row in this pass, and the
query row's shift (`rwn_core.neighbors.frame`). A row meets every other one in exactly one pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.neighbors.distance_kernel import (
    SLACK,
    count_hits,
    error_between,
    exact_squared,
    leaf_gaps,
    list_hits,
    rows_near,
    widened_edge,
    write_products,
)
from rwn_core.neighbors.draw_kernel import SearchRequest, SearchResult, finish_row
from rwn_core.neighbors.index import IndexArrays
from rwn_core.neighbors.rank_kernel import allocate_row, count_records, smallest, sort_pairs
from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_internal, jit_no_refcount

ROOM = 1 << 18  # candidates held at a time, unless one row alone has more
MOST_LEVELS = float(1 << 26)  # of a category; the number of a level of two is exact


class Shortlist(NamedTuple):
    """The candidates of some rows of one query leaf."""

    in_leaf: Integers32  # shape (rows,): the rows' numbers in their leaf
    position: Integers32  # shape (rows, room): rows of the target
    squared: Floats  # shape (rows, room): their exact squared distances
    # held, tight: shape (rows,): how many there are, and how many there were when the row's bound
    # was last set
    held: Integers
    tight: Integers
    bound: Floats  # shape (rows,): how far a candidate may lie


class Workspace(NamedTuple):
    """The arrays for the points of a query leaf before the tiles of a target."""

    # points, local: shape (d, width): rotated; a tile's center less the points
    points: NDArray[Any]
    local: NDArray[Any]
    # edges, norms, gaps: shape (width,): squared distances: within which a tile's box is visited,
    # -1 for points that are left out; of a tile's center; of its box
    edges: NDArray[Any]
    norms: NDArray[Any]
    gaps: NDArray[Any]
    near: Integers  # shape (width + 1,): the points that visit a tile
    # shape (width of the target's tiles,): half of the squared distances of a point, without half
    # of its norm
    products: NDArray[Any]
    # shape (width of the target's tiles + 1,): those of a tile that are near
    entries: Integers
    # center, half, nothing: shape (d,): the box of the points; zeros
    center: NDArray[Any]
    half: NDArray[Any]
    nothing: NDArray[Any]
    # apart, toward: shape (leaves,): squared distances of the leaves' boxes from that box, and from
    # its center
    apart: NDArray[Any]
    toward: NDArray[Any]
    # shape (leaves,): those from its center of the leaves that are visited
    ranked: Floats
    order: Integers32  # shape (leaves,): these leaves


@jit_internal
def _allocate_candidates(rows: int, room: int) -> Shortlist:
    """Allocate the candidates of a number of rows, `room` each."""
    return Shortlist(
        np.empty(rows, np.int32),
        np.empty((rows, room), np.int32),
        np.empty((rows, room)),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows),
    )


@jit_inline
def _position(query: IndexArrays, leaf: int, candidates: Shortlist, row: int) -> int:
    return int(query.starts[len(query.starts) // 2 - 1 + leaf] + candidates.in_leaf[row])


@jit_inline
def _limit(request: SearchRequest, leaf: int, which: int, row: int, candidates: Shortlist) -> float:
    """Return the largest rotated distance of a candidate in a pass; negative where none may lie."""
    bound = float(candidates.bound[row])
    query = request.query
    target = request.target
    if len(query.levels):
        bound -= float(query.shifts[which, _position(query, leaf, candidates, row)])
        bound = min(bound, target.far) if which > 0 else bound
    return bound * target.scale


@jit_no_refcount
def _set_edge(
    request: SearchRequest, leaf: int, which: int, row: int, candidates: Shortlist, work: Workspace
) -> None:
    """Set the distance up to which a row visits boxes: `_limit` in rotated coordinates."""
    limit = _limit(request, leaf, which, row, candidates)
    query = request.query
    if 0 <= limit < np.inf:
        norm = query.norms[which * (len(query.starts) // 2) + leaf]
        limit = widened_edge(limit, norm, query.boxes.shape[1], request.unit) * (1 + SLACK)
    work.edges[row] = limit


@jit_inline
def _farthest(work: Workspace, first: int, last: int) -> Any:
    bound = work.edges[first]
    for row in range(first + 1, last):
        bound = max(bound, work.edges[row])
    return bound


@jit_no_refcount
def _place_rows(
    query: IndexArrays,
    leaf: int,
    which: int,
    candidates: Shortlist,
    first: int,
    last: int,
    work: Workspace,
) -> None:
    """Write the points of some rows in a pass, and their box."""
    mine = which * (len(query.starts) // 2) + leaf
    for axis in range(len(work.points)):
        center = query.boxes[0, axis, mine]
        least = most = center + query.tiles[mine, axis, candidates.in_leaf[first]]
        for row in range(first, last):
            point = center + query.tiles[mine, axis, candidates.in_leaf[row]]
            work.points[axis, row] = point
            least = min(least, point)
            most = max(most, point)
        work.center[axis] = least + (most - least) / 2
        middle = work.center[axis]
        # a little more, for the rounding of differences from the center
        work.half[axis] = max(most - middle, middle - least) * (1 + 1e-6)


@jit_no_refcount
def _order_leaves(target: IndexArrays, which: int, bound: float, k: int, work: Workspace) -> int:
    """List the leaves of a pass with boxes within a bound; for k the nearest first."""
    leaves = len(work.apart)
    first = which * leaves
    leaf_gaps(target.boxes, first, first + leaves, work.center, work.half, work.apart)
    if k:
        leaf_gaps(target.boxes, first, first + leaves, work.center, work.nothing, work.toward)
    count = ZERO
    for other in range(leaves):
        if work.apart[other] <= bound:
            work.order[count] = other
            work.ranked[count] = work.toward[other]
            count += 1
    if k:
        sort_pairs(work.ranked, work.order, ZERO, count)
    return count


@jit_no_refcount
def _tighten(candidates: Shortlist, row: int, need: int, edge: float) -> bool:
    """True if a row's bound became closer; drops the candidates beyond it."""
    # Ties go somewhat further than the last one needed.
    count = candidates.held[row]
    if count < need or count - candidates.tight[row] < need or candidates.bound[row] <= edge:
        return False
    squared = candidates.squared[row]
    position = candidates.position[row]
    kth = smallest(squared, position, count, need - 1)
    candidates.bound[row] = bound = max(kth * (1 + SLACK), edge)
    tight = 0
    for entry in range(count):
        if squared[entry] <= bound:
            position[tight] = position[entry]
            squared[tight] = squared[entry]
            tight += 1
    candidates.held[row] = candidates.tight[row] = tight
    return True


@jit_inline
def _belongs(
    query: IndexArrays, position: int, target: IndexArrays, place: int, which: int
) -> bool:
    """True if two rows agree in the categories of a pass, and differ in the others."""
    agreement = 0
    for number in range(len(target.coded)):
        column = target.coded[number]
        agreement |= int(query.exact[position, column] == target.exact[place, column]) << number
    return agreement == which


@jit_no_refcount
def _visit_tile(
    request: SearchRequest,
    leaf: int,
    which: int,
    first: int,
    last: int,
    other: int,
    candidates: Shortlist,
    work: Workspace,
) -> int:
    """Add what a tile has for some rows: 0 for nothing new, 1 for closer bounds, -1 for no room."""
    query, target = request.query, request.target
    leaves = len(target.starts) // 2
    width = target.tiles.shape[2]
    tile, mine = which * leaves + other, which * (len(query.starts) // 2) + leaf
    rows = rows_near(work, first, last, target.boxes, tile)
    if rows == 0:
        return 0
    begin = target.starts[leaves - 1 + other]
    error = error_between(query, mine, target, tile, request.unit)
    found = 0
    need = min(request.k + request.others + 1, len(target.exact))
    for number in range(rows):
        row = work.near[number]
        if candidates.held[row] + width >= candidates.position.shape[1]:
            return -1
        write_products(target.tiles[tile], work.local, row, work.products)
        position = _position(query, leaf, candidates, row)
        point = query.exact[position]
        count = candidates.held[row]
        changed = False
        norm = np.float64(work.norms[row])
        edge = request.edges[position]
        if request.k and candidates.bound[row] == np.inf and not len(target.coded):
            # enough entries that are surely within the radius: no other one is needed
            inside = work.norms.dtype.type((edge * target.scale - error - norm) / 2)
            if count_hits(work.products, inside) >= need:
                candidates.bound[row] = edge * (1 + SLACK)
                changed = True
        limit = _limit(request, leaf, which, row, candidates) + error
        most = work.norms.dtype.type((limit - norm) / 2)
        # entries with a rough product above `most` are certainly beyond the row's bound
        for entry in range(list_hits(work.products, most, work.entries)):
            place = begin + work.entries[entry]
            if len(target.coded):
                place = target.places[which, place]
                if not _belongs(query, position, target, place, which):
                    continue
            squared = exact_squared(point, target.exact, target.levels, target.squares, place)
            candidates.position[row, count], candidates.squared[row, count] = place, squared
            count += squared <= candidates.bound[row]
        candidates.held[row] = count
        if request.k and _tighten(candidates, row, need, edge * (1 + SLACK)):
            changed = True
        if changed:
            _set_edge(request, leaf, which, row, candidates, work)
            found = 1
    return found


@jit_no_refcount
def _begin_without_candidates(
    request: SearchRequest, leaf: int, begin: int, rows: int, candidates: Shortlist
) -> None:
    """Put rows of equal levels together, each without candidates and with its widest bound."""
    query = request.query
    for row in range(rows):
        candidates.in_leaf[row] = begin + row
    if len(query.coded):
        for row in range(rows):
            place = _position(query, leaf, candidates, row)
            key = 0.0
            for number in range(len(query.coded)):
                key = key * MOST_LEVELS + query.exact[place, query.coded[number]]
            candidates.bound[row] = key
        sort_pairs(candidates.bound, candidates.in_leaf, ZERO, rows)
    for row in range(rows):
        candidates.held[row] = 0
        candidates.tight[row] = 0
        edge = request.edges[_position(query, leaf, candidates, row)] * (1 + SLACK)
        candidates.bound[row] = np.inf if request.k else edge


@jit_no_refcount
def _end_of_equal_levels(
    query: IndexArrays, leaf: int, which: int, first: int, rows: int, candidates: Shortlist
) -> int:
    """Return where the rows end that have the levels of the first in what a pass agrees in."""
    start = _position(query, leaf, candidates, first)
    last = first + 1
    equal = True
    while last < rows and equal:
        there = _position(query, leaf, candidates, last)
        for number in range(len(query.coded)):
            column = query.coded[number]
            differs = query.exact[start, column] != query.exact[there, column]
            equal = equal and not (which >> number & 1 and differs)
        last += int(equal)
    return last


@jit_no_refcount
def gather(
    request: SearchRequest, leaf: int, begin: int, end: int, candidates: Shortlist, work: Workspace
) -> bool:
    """True if there is room for the candidates of rows `begin` to `end` - 1; collects them."""
    query = request.query
    rows = end - begin
    _begin_without_candidates(request, leaf, begin, rows, candidates)
    # rows that agree in most categories first: they are the nearest
    for which in range(len(query.shifts) - 1, -1, -1):
        first = ZERO
        while first < rows:
            last = _end_of_equal_levels(query, leaf, which, first, rows, candidates)
            for row in range(first, last):
                _set_edge(request, leaf, which, row, candidates, work)
            bound = _farthest(work, first, last)
            if bound >= 0:
                _place_rows(query, leaf, which, candidates, first, last, work)
                count = _order_leaves(request.target, which, bound, request.k, work)
                for number in range(count):
                    other = work.order[number]
                    if not work.apart[other] <= bound:
                        continue
                    found = _visit_tile(request, leaf, which, first, last, other, candidates, work)
                    if found < 0:
                        return False
                    if found:
                        bound = _farthest(work, first, last)
            first = last
    return True


@jit_entry
def search(request: SearchRequest, result: SearchResult, first: int, last: int) -> None:
    """Search for the records of the query leaves `first` to `last` - 1."""
    query, target = request.query, request.target
    leaves = len(query.starts) // 2
    width = query.tiles.shape[2]
    # arrays for any leaf of the query before any tile of the target
    kind = query.tiles.dtype
    height = query.tiles.shape[1] - 1
    others = len(target.starts) // 2
    points, each = np.empty((height, width), kind), np.empty((3, width), kind)
    box = np.zeros((3, height), kind)
    gaps = np.empty((2, others), kind)
    room = target.tiles.shape[2]
    work = Workspace(
        points,
        np.empty_like(points),
        each[0],
        each[1],
        each[2],
        np.empty(width + 1, np.int64),
        np.empty(room, kind),
        np.empty(room + 1, np.int64),
        box[0],
        box[1],
        box[2],
        gaps[0],
        gaps[1],
        np.empty(others),
        np.empty(others, np.int32),
    )
    row = allocate_row(ZERO + 1024)
    room = max(2 * (request.k + request.others + 1) + 4 * target.tiles.shape[2], ROOM // width)
    most = max(1, min(width, ROOM // room))
    candidates = _allocate_candidates(most, room)
    for leaf in range(first, last):
        start = query.starts[leaves - 1 + leaf]
        size = query.starts[leaves + leaf] - start
        begin = ZERO
        while begin < size:
            end = min(size, begin + most)
            if not gather(request, leaf, begin, end, candidates, work):
                room *= 2  # too many candidates at once
                most = max(1, most // 2)
                candidates = _allocate_candidates(most, room)
                continue
            for index in range(end - begin):
                held = candidates.held[index]
                needed = count_records(target, candidates.position[index, :held], held)
                if needed > len(row.members):
                    row = allocate_row(2 * needed)
                position = start + candidates.in_leaf[index]
                if not finish_row(position, candidates, index, row, request, result):
                    raise ValueError("A neighborhood has fewer members than were counted.")
            begin = end
