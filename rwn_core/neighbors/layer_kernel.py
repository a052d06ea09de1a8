"""Weighted draws of donors by layers: a random reach, then the record chain within it.

With weights w_1, w_2, ... by rank and e_t the largest of w_t, w_(t+1), ..., the reach is s with
probability proportional to s (e_s - e_(s+1)); the chain makes the rank T uniform up to s, and T is
accepted with probability w_T / e_T, or drawn anew. That is exactly proportional to w. Even weights
have one layer and are always accepted: the chain of `draw_kernel`, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.chacha_kernel import UNIFORMS, uniforms_of_block
from rwn_core.parallel.jit import jit_entry, jit_no_refcount

SCALE = 2.0**50  # envelopes are whole numbers of this unit
ATTEMPTS = 1000  # then by cumulative weights
ATTEMPT_BLOCKS = 2**20  # of random numbers that an attempt's chain may use
LAYER_BLOCKS = 2**31  # where the blocks begin that choose layers
KEPT = 4  # blocks of a cell that are kept from one draw to the next: those of two attempts


@jit_no_refcount
def _recall(
    key: NDArray[np.uint32],
    record: int,
    stream: int,
    block: int,
    place: int,
    kept: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> None:
    """Write the uniform numbers of a block, which is kept at a place; a place of -1 is none."""
    if place >= 0 and kept[place, 0] > 0.0:  # as every uniform number is
        for step in range(UNIFORMS):
            unit[step] = kept[place, step]
        return
    uniforms_of_block(key, record, stream, block, unit)
    if place >= 0:
        for step in range(UNIFORMS):
            kept[place, step] = unit[step]


@jit_no_refcount
def _rank(
    key: NDArray[np.uint32],
    record: int,
    stream: int,
    attempt: int,
    reach: int,
    place: int,
    kept: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> int:
    """Return the last link of an attempt's chain that is at most `reach`."""
    base = attempt * ATTEMPT_BLOCKS
    _recall(key, record, stream, base, place, kept, unit)
    rank, step = 1.0, 1
    while True:
        if step % UNIFORMS == 0:
            uniforms_of_block(key, record, stream, base + step // UNIFORMS, unit)
        following = np.floor(rank / unit[step % UNIFORMS]) + 1.0
        if not following <= reach:
            return int(rank)
        rank = following
        step += 1


@jit_no_refcount
def _first_above(layers: NDArray[np.int64], size: int, target: int) -> int:
    """Return the first place with a cumulative number above a target."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        if layers[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@jit_no_refcount
def _by_layers(
    key: NDArray[np.uint32],
    record: int,
    stream: int,
    size: int,
    several: bool,
    weights: NDArray[np.float64],
    start: int,
    envelope: NDArray[np.int64],
    layers: NDArray[np.int64],
    place: int,
    kept: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> int:
    """Return the rank of a cell's donor, from 1."""
    total = layers[size - 1]
    for attempt in range(ATTEMPTS):
        reach = size
        accept = 0.0
        here = place + 2 * attempt if 2 * attempt < KEPT else -1
        if several:
            beyond = here + 1 if here >= 0 else -1
            _recall(key, record, stream, LAYER_BLOCKS + attempt, beyond, kept, unit)
            accept = unit[1]
            reach = _first_above(layers, size, min(int(unit[0] * total), total - 1)) + 1
        rank = _rank(key, record, stream, attempt, reach, here, kept, unit)
        weight = int(weights[start + rank - 1] * SCALE)
        if weight >= envelope[rank - 1] or accept * envelope[rank - 1] < weight:
            return rank
    uniforms_of_block(key, record, stream, LAYER_BLOCKS + ATTEMPTS, unit)
    left = unit[0]
    for rank in range(1, size):
        left -= weights[start + rank - 1]
        if left < 0.0:
            return rank
    return size


@jit_entry
def draw_by_layers(
    keys: NDArray[np.uint32],
    records: NDArray[np.int64],
    streams: NDArray[np.int64],
    q: NDArray[np.float64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    weights: NDArray[np.float64],
    kept: NDArray[np.float64],
    donors: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Draw the donors of records `first` to `last` - 1."""
    # Shapes: keys (1, 8) or (m, 8); records, their rows (m,); streams, q (p,); kept (m p KEPT, 8)
    # or without rows: random numbers of each cell for the next draw, 0 where they are still to be
    # made; donors (m, p), filled: the record itself where a cell is not modified. Members are
    # nearest first; no row is empty.
    longest = 1
    for index in range(first, last):
        longest = max(longest, starts[rows[index] + 1] - starts[rows[index]])
    envelope, layers = np.empty(longest, np.int64), np.empty(longest, np.int64)
    unit, once = np.empty(UNIFORMS), np.zeros((KEPT, UNIFORMS))
    for index in range(first, last):
        record, key = records[index], keys[min(index, len(keys) - 1)]
        start = starts[rows[index]]
        size = starts[rows[index] + 1] - start
        largest, smallest = 0.0, 1.0
        for place in range(size - 1, -1, -1):
            largest = max(largest, weights[start + place])
            smallest = min(smallest, weights[start + place])
            envelope[place] = int(largest * SCALE)
        several = int(smallest * SCALE) < envelope[0]  # also where the farthest weighs most
        total = 0
        for place in range(size):
            beyond = envelope[place + 1] if place + 1 < size else 0
            total += (place + 1) * (envelope[place] - beyond)
            layers[place] = total
        for column in range(len(streams)):
            room, place = kept, KEPT * (index * len(streams) + column)
            if not len(kept):
                once[:, 0] = 0.0
                room, place = once, 0
            _recall(key, record, streams[column], 0, place, room, unit)
            if not unit[0] < q[column]:
                donors[index, column] = record
            else:
                rank = _by_layers(
                    key,
                    record,
                    streams[column],
                    size,
                    several,
                    weights,
                    start,
                    envelope,
                    layers,
                    place,
                    room,
                    unit,
                )
                donors[index, column] = members[start + rank - 1]
