"""Members of given ranks: a rough order of the row, and an exact one where it counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.candidate_lists import NONE, RadiusCandidates
from rwn_core.neighbors.kernels.error_bound import SLACK, exact_squared
from rwn_core.neighbors.kernels.rank_row import Ranked
from rwn_core.neighbors.kernels.sorting import insert, sort_pairs
from rwn_core.parallel.jit import jit_inline, jit_internal

BUCKETS = 1024  # at most
A_BUCKET = 4  # members of a bucket, about
LEAST = 1e-300  # rough distances whose inverse is surely a number


class Buckets(NamedTuple):
    """The members of one row, in buckets of ascending rough distance.

    Attributes
    ----------
    position : ndarray of int32, shape (room,)
    rough : ndarray of float64, shape (room,)
    starts : ndarray of int64, shape (BUCKETS + 1,)
    most, least : ndarray of float64, shape (BUCKETS,)
        The largest rough distance up to a bucket, and the smallest from it on.
    squared, some : ndarray of float64 and of int32, shape (room,)
        Room to put a few members in exact order.
    """

    position: NDArray[np.int32]
    rough: NDArray[np.float64]
    starts: NDArray[np.int64]
    most: NDArray[np.float64]
    least: NDArray[np.float64]
    squared: NDArray[np.float64]
    some: NDArray[np.int32]


@jit_internal
def buckets_for(count: int) -> Buckets:
    """Arrays for this many members."""
    return Buckets(
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(BUCKETS + 1, np.int64),
        np.empty(BUCKETS),
        np.empty(BUCKETS),
        np.empty(count),
        np.empty(count, np.int32),
    )


@jit_inline
def sift(
    point: NDArray[np.float64],
    itself: int,
    target: Side,
    edge: float,
    candidates: RadiusCandidates,
    index: int,
    row: Ranked,
) -> int:
    """Bring a row's members among its candidates together, with their rough distances.

    Parameters
    ----------
    point : ndarray of float64, shape (d,)
    itself : int
        The position to leave out; -1 for none.
    target : Side
    edge : float
        Largest squared distance of a member.
    candidates : RadiusCandidates
    index : int
        The row's, in `candidates`.
    row : Ranked

    Returns
    -------
    int
        How many; -1 if clones, or ties across the edge, need the full order.
    """
    sure = np.inf if edge == np.inf else edge - candidates.error[index]
    clones = len(target.records) > len(target.exact)
    kept, run = 0, candidates.latest[index]
    while run != NONE:
        for entry in range(candidates.begin[run], candidates.begin[run + 1]):
            position, rough = candidates.position[entry], candidates.rough[entry]
            if clones and target.offsets[position + 1] - target.offsets[position] > 1:
                return -1
            if position == itself:
                continue
            if not rough < sure:
                exact = exact_squared(point, target.exact, target.levels, target.squares, position)
                if edge < exact <= edge * (1 + SLACK):
                    return -1
                if exact > edge:
                    continue
            row.position[kept], row.rough[kept] = position, rough
            kept += 1
        run = candidates.following[run]
    return kept


@jit_inline
def nearest_exact(
    point: NDArray[np.float64], target: Side, error: float, kept: int, row: Ranked
) -> float:
    """The smallest exact squared distance of the members; NaN for none."""
    if kept == 0:
        return np.nan
    least = row.rough[0]
    for entry in range(1, kept):
        least = min(least, row.rough[entry])
    least += 2 * error
    nearest = np.inf
    for entry in range(kept):
        if row.rough[entry] <= least:
            exact = exact_squared(
                point, target.exact, target.levels, target.squares, row.position[entry]
            )
            nearest = min(nearest, exact)
    return nearest


@jit_inline
def _bucket_of(rough: float, scale: float, dimensions: int, count: int) -> int:
    # members crowd at the edge: their number grows like a power of the distance
    share = max(rough, 0.0) * scale  # that of a clone may seem to be below 0
    if dimensions >= 4:
        share *= share
    if dimensions >= 8:
        share *= share
    return min(int(share * count), count - 1)


@jit_inline
def fill_buckets(kept: int, dimensions: int, row: Ranked, buckets: Buckets) -> int:
    """Sort the members into buckets; how many buckets there are."""
    count = 1
    while count < BUCKETS and A_BUCKET * count < kept:
        count *= 2
    largest = row.rough[0]
    for entry in range(1, kept):
        largest = max(largest, row.rough[entry])
    scale = 1 / largest if LEAST < largest < np.inf else 0.0
    starts = buckets.starts
    starts[: count + 1] = 0
    buckets.most[:count], buckets.least[:count] = -np.inf, np.inf
    for entry in range(kept):
        rough = row.rough[entry]
        bucket = _bucket_of(rough, scale, dimensions, count)
        row.head[entry] = bucket
        starts[bucket + 1] += 1
        buckets.most[bucket] = max(buckets.most[bucket], rough)
        buckets.least[bucket] = min(buckets.least[bucket], rough)
    for bucket in range(1, count):
        buckets.most[bucket] = max(buckets.most[bucket], buckets.most[bucket - 1])
        back = count - 1 - bucket
        buckets.least[back] = min(buckets.least[back], buckets.least[back + 1])
    for bucket in range(count):
        starts[bucket + 1] += starts[bucket]
    for entry in range(kept):
        bucket = row.head[entry]
        buckets.position[starts[bucket]] = row.position[entry]
        buckets.rough[starts[bucket]] = row.rough[entry]
        starts[bucket] += 1
    for bucket in range(count, 0, -1):  # filling has moved every start to the next one
        starts[bucket] = starts[bucket - 1]
    starts[0] = 0
    return count


@jit_inline
def pick(
    point: NDArray[np.float64], target: Side, rank: int, error: float, count: int, buckets: Buckets
) -> int:
    """The number of the member of a rank, counted from 1.

    Parameters
    ----------
    point : ndarray of float64, shape (d,)
    target : Side
    rank : int
    error : float
        The largest error of a rough distance.
    count : int
        Of buckets.
    buckets : Buckets
    """
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if buckets.starts[middle] < rank:
            low = middle
        else:
            high = middle
    begin, end = buckets.starts[low], buckets.starts[low + 1]
    insert(buckets.rough, buckets.position, begin, end)
    at = rank - 1
    here = buckets.rough[at]
    before = buckets.rough[at - 1] if at > begin else buckets.most[max(low - 1, 0)]
    after = buckets.rough[at + 1] if at + 1 < end else buckets.least[min(low + 1, count - 1)]
    # nobody might change places with it, or tie: then the rough order gives its rank
    first = at == 0 or (before + error) * (1 + 2 * TIE) < here - error
    last = at + 1 == buckets.starts[count] or (here + error) * (1 + 2 * TIE) < after - error
    if first and last:
        return int(target.firsts[buckets.position[at]])
    members = target.exact, target.offsets, target.records, target.levels, target.squares
    record = _pick_exact(point, members, rank, error, low, count, buckets)
    return int(target.numbers[record])


@jit_internal
def _pick_exact(
    point: NDArray[np.float64],
    members: tuple[
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[np.float64],
    ],
    rank: int,
    error: float,
    low: int,
    count: int,
    buckets: Buckets,
) -> int:
    """`pick` where the rough order may be wrong.

    Only the members of the rank's bucket are put in exact order; a neighboring bucket joins them
    as long as one of its members might tie with the wanted one, or change places with it.

    Parameters
    ----------
    point, rank, error, count, buckets
        As for `pick`.
    members : tuple of ndarray
        The target's points, offsets, records, levels and squares.
    low : int
        The rank's bucket.

    Returns
    -------
    int
        The record.
    """
    exact, offsets, records, levels, squares = members
    high = low + 1
    step = 1
    while True:
        begin = buckets.starts[low]
        size = buckets.starts[high] - begin
        for entry in range(size):
            position = buckets.position[begin + entry]
            buckets.some[entry] = position
            buckets.squared[entry] = exact_squared(point, exact, levels, squares, position)
        sort_pairs(buckets.squared, buckets.some, 0, size)
        first = last = rank - 1 - begin
        while first > 0 and buckets.squared[first] <= buckets.squared[first - 1] * (1 + TIE):
            first -= 1
        while last + 1 < size and buckets.squared[last + 1] <= buckets.squared[last] * (1 + TIE):
            last += 1
        apart = True
        if low > 0 and (buckets.most[low - 1] + error) * (1 + 2 * TIE) >= buckets.squared[first]:
            low = max(0, low - step)
            apart = False
        beyond = buckets.squared[last] * (1 + 2 * TIE)
        if high < count and buckets.least[high] - error <= beyond:
            high = min(count, high + step)
            apart = False
        if apart:
            break
        step *= 2
    if first < last:
        for entry in range(first, last + 1):
            buckets.some[entry] = records[offsets[buckets.some[entry]]]
        buckets.some[first : last + 1].sort()
        return int(buckets.some[rank - 1 - begin])
    return int(records[offsets[buckets.some[first]]])
