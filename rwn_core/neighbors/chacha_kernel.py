"""The random numbers of a cell, from the same bits as in `rwn_core.randomness`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64
from numpy.typing import NDArray

from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_no_refcount

UNIFORMS = 8  # uniform numbers of a block
FAR = 2**31 - 1
LANES = 64  # blocks at a time


@jit_inline
def _rotated(word: Any, bits: Any) -> Any:
    return uint32(uint32(word << bits) | uint32(word >> (uint32(32) - bits)))


@jit_inline
def _quarter_round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a = uint32(a + b)
    d = _rotated(d ^ a, uint32(16))
    c = uint32(c + d)
    b = _rotated(b ^ c, uint32(12))
    a = uint32(a + b)
    d = _rotated(d ^ a, uint32(8))
    c = uint32(c + d)
    b = _rotated(b ^ c, uint32(7))
    return a, b, c, d


@jit_inline
def _unit(high: Any, low: Any) -> float:
    """Turn 52 of the bits of two words into a number strictly between 0 and 1."""
    bits = (uint64(high) << uint64(32)) | uint64(low)
    return float((np.float64(bits >> uint64(12)) + 0.5) * 2.0**-52)


@jit_no_refcount
def uniforms_of_block(
    key: NDArray[np.uint32], record: int, stream: int, block: int, out: NDArray[np.float64]
) -> None:
    """Write the eight uniform numbers of one block."""
    s0, s1, s2, s3 = uint32(0x61707865), uint32(0x3320646E), uint32(0x79622D32), uint32(0x6B206574)
    t0, t1 = uint32(uint64(record)), uint32(uint64(record) >> uint64(32))
    t2, t3 = uint32(uint64(stream)), uint32(uint64(block))
    a0, a1, a2, a3 = s0, s1, s2, s3
    b0, b1, b2, b3 = key[0], key[1], key[2], key[3]
    c0, c1, c2, c3 = key[4], key[5], key[6], key[7]
    d0, d1, d2, d3 = t0, t1, t2, t3
    for _ in range(10):
        a0, b0, c0, d0 = _quarter_round(a0, b0, c0, d0)
        a1, b1, c1, d1 = _quarter_round(a1, b1, c1, d1)
        a2, b2, c2, d2 = _quarter_round(a2, b2, c2, d2)
        a3, b3, c3, d3 = _quarter_round(a3, b3, c3, d3)
        a0, b1, c2, d3 = _quarter_round(a0, b1, c2, d3)
        a1, b2, c3, d0 = _quarter_round(a1, b2, c3, d0)
        a2, b3, c0, d1 = _quarter_round(a2, b3, c0, d1)
        a3, b0, c1, d2 = _quarter_round(a3, b0, c1, d2)
    out[0] = _unit(uint32(a0 + s0), uint32(a1 + s1))
    out[1] = _unit(uint32(a2 + s2), uint32(a3 + s3))
    out[2] = _unit(uint32(b0 + key[0]), uint32(b1 + key[1]))
    out[3] = _unit(uint32(b2 + key[2]), uint32(b3 + key[3]))
    out[4] = _unit(uint32(c0 + key[4]), uint32(c1 + key[5]))
    out[5] = _unit(uint32(c2 + key[6]), uint32(c3 + key[7]))
    out[6] = _unit(uint32(d0 + t0), uint32(d1 + t1))
    out[7] = _unit(uint32(d2 + t2), uint32(d3 + t3))


@jit_no_refcount
def _rounds(a: Any, b: Any, c: Any, d: Any, shift: int) -> None:
    """Do the quarter rounds of the columns (shift 0) or the diagonals (1) of `LANES` blocks."""
    for row in range(4):
        i, j = row * LANES, ((row + shift) & 3) * LANES
        k, m = ((row + 2 * shift) & 3) * LANES, ((row + 3 * shift) & 3) * LANES
        for lane in range(LANES):  # one vector instruction serves several lanes
            a[i + lane], b[j + lane], c[k + lane], d[m + lane] = _quarter_round(
                a[i + lane], b[j + lane], c[k + lane], d[m + lane]
            )


@jit_entry
def uniforms_of_records(
    key: NDArray[np.uint32], records: NDArray[np.int64], stream: int, out: NDArray[np.float64]
) -> None:
    """Write the first two uniform numbers of many records in one stream."""
    start = (uint32(0x61707865), uint32(0x3320646E), uint32(0x79622D32), uint32(0x6B206574))
    a, b = np.empty(4 * LANES, np.uint32), np.empty(4 * LANES, np.uint32)
    c, d = np.empty(4 * LANES, np.uint32), np.empty(4 * LANES, np.uint32)
    for first in range(0, len(records), LANES):
        count = min(LANES, len(records) - first)
        for row in range(4):
            for lane in range(row * LANES, (row + 1) * LANES):
                a[lane], b[lane], c[lane], d[lane] = start[row], key[row], key[4 + row], uint32(0)
        for lane in range(count):
            record = uint64(records[first + lane])
            d[lane], d[LANES + lane] = uint32(record), uint32(record >> uint64(32))
            d[2 * LANES + lane] = uint32(uint64(stream))
        for _ in range(10):
            _rounds(a, b, c, d, 0)
            _rounds(a, b, c, d, 1)
        for step in range(2):
            i, j = 2 * step, 2 * step + 1
            for lane in range(count):
                high, low = uint32(a[i * LANES + lane] + start[i]), a[j * LANES + lane] + start[j]
                out[step, first + lane] = _unit(high, uint32(low))


@jit_no_refcount
def last_rank(
    key: NDArray[np.uint32], record: int, stream: int, size: int, unit: NDArray[np.float64]
) -> int:
    """Return the last link of a cell's chain that is at most `size`, which is 1 or more."""
    # `unit` holds the first block of the cell; it is overwritten by later ones.
    rank, step = 1.0, 1
    while True:
        if step % UNIFORMS == 0:
            uniforms_of_block(key, record, stream, step // UNIFORMS, unit)
        following = np.floor(rank / unit[step % UNIFORMS]) + 1.0
        if not following <= size:
            return int(rank)
        rank = following
        step += 1


@jit_entry
def chains(
    key: NDArray[np.uint32],
    records: NDArray[np.int64],
    streams: NDArray[np.int64],
    longest: NDArray[np.int64],
    modify: NDArray[np.float64],
    ends: NDArray[np.int64],
    links: NDArray[np.int32],
) -> int:
    """Write the chains of many cells, each up to its record's longest; return the room needed."""
    # `modify` gets the numbers that decide on modification, `ends` the end of each cell's links.
    unit = np.empty(UNIFORMS)
    used, cell = 0, 0
    for row in range(len(records)):
        for column in range(len(streams)):
            uniforms_of_block(key, records[row], streams[column], ZERO, unit)
            modify[row, column] = unit[0]
            rank, step = 1, 1
            while rank <= longest[row] or step == 1:
                if used < len(links):
                    links[used] = rank
                used += 1
                if step > 1 and step % UNIFORMS == 0:
                    uniforms_of_block(key, records[row], streams[column], step // UNIFORMS, unit)
                rank = int(min(np.floor(rank / unit[step % UNIFORMS]) + 1.0, float(FAR)))
                step += 1
            ends[cell] = used
            cell += 1
    return used
