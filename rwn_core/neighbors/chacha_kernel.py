"""The random numbers of a cell, from the same bits as in `rwn_core.randomness`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64

from rwn_core.data.arrays import Floats, Integers, Words
from rwn_core.parallel.jit import ZERO, jit_entry, jit_inline, jit_no_refcount

UNIFORMS = 8  # uniform numbers of a block


@jit_inline
def _rotated(word: np.uint32, bits: np.uint32) -> Any:
    return uint32(uint32(word << bits) | uint32(word >> (uint32(32) - bits)))


@jit_inline
def _quarter_round(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32) -> Any:
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
def _unit(high: np.uint32, low: np.uint32) -> float:
    """Turn 52 of the bits of two words into a number strictly between 0 and 1."""
    bits = (uint64(high) << uint64(32)) | uint64(low)
    return float((np.float64(bits >> uint64(12)) + 0.5) * 2.0**-52)


@jit_no_refcount
def uniforms_of_block(key: Words, record: int, stream: int, block: int, out: Floats) -> None:
    """Write the eight uniform numbers of one block."""
    # Shapes: key, out (8,).
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


@jit_entry
def uniforms_of_records(key: Words, records: Integers, stream: int, out: Floats) -> None:
    """Write the first two uniform numbers of many records in one stream."""
    # Shapes: key (8,); records (m,); out (2, m).
    unit = np.empty(UNIFORMS)
    for index in range(len(records)):
        uniforms_of_block(key, records[index], stream, ZERO, unit)
        out[0, index], out[1, index] = unit[0], unit[1]


@jit_no_refcount
def last_rank(key: Words, record: int, stream: int, first: int, size: int, unit: Floats) -> int:
    """Return the last link of a chain that is at most `size`, which is 1 or more."""
    # Shapes: key, unit (8,).
    # `unit` holds the numbers of block `first`; it is overwritten by those that follow.
    rank, step = 1.0, 1
    while True:
        if step % UNIFORMS == 0:
            uniforms_of_block(key, record, stream, first + step // UNIFORMS, unit)
        following = np.floor(rank / unit[step % UNIFORMS]) + 1.0
        if not following <= size:
            return int(rank)
        rank = following
        step += 1
