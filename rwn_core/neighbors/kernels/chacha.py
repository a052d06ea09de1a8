"""The record chain of a cell, from the same bits as in `rwn_core.randomness`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.simd import (
    VECTOR_WIDTH,
    add_words,
    following,
    if_at_most,
    load,
    same,
    store,
    turned,
    unit_of,
    where_at_most,
)
from rwn_core.parallel.jit import jit_entry, jit_no_refcount, jit_source_inline

UNIFORMS = 8  # a block's uniform numbers
FAR = 2**31 - 1


@jit_source_inline
def _quarter_round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a = add_words(a, b)
    d = turned(d, a, 16)
    c = add_words(c, d)
    b = turned(b, c, 12)
    a = add_words(a, b)
    d = turned(d, a, 8)
    c = add_words(c, d)
    b = turned(b, c, 7)
    return a, b, c, d


@jit_source_inline
def _uniforms(s: Any, k: Any, h: Any, t: Any) -> Any:
    """The eight uniform numbers of a block; of sixteen blocks, where its words are vectors.

    The block begins as four constants, the two halves of the key and the address.
    """
    a0, a1, a2, a3 = s
    b0, b1, b2, b3 = k
    c0, c1, c2, c3 = h
    d0, d1, d2, d3 = t
    for _ in range(10):
        a0, b0, c0, d0 = _quarter_round(a0, b0, c0, d0)
        a1, b1, c1, d1 = _quarter_round(a1, b1, c1, d1)
        a2, b2, c2, d2 = _quarter_round(a2, b2, c2, d2)
        a3, b3, c3, d3 = _quarter_round(a3, b3, c3, d3)
        a0, b1, c2, d3 = _quarter_round(a0, b1, c2, d3)
        a1, b2, c3, d0 = _quarter_round(a1, b2, c3, d0)
        a2, b3, c0, d1 = _quarter_round(a2, b3, c0, d1)
        a3, b0, c1, d2 = _quarter_round(a3, b0, c1, d2)
    return (
        unit_of(add_words(a0, s[0]), add_words(a1, s[1])),
        unit_of(add_words(a2, s[2]), add_words(a3, s[3])),
        unit_of(add_words(b0, k[0]), add_words(b1, k[1])),
        unit_of(add_words(b2, k[2]), add_words(b3, k[3])),
        unit_of(add_words(c0, h[0]), add_words(c1, h[1])),
        unit_of(add_words(c2, h[2]), add_words(c3, h[3])),
        unit_of(add_words(d0, t[0]), add_words(d1, t[1])),
        unit_of(add_words(d2, t[2]), add_words(d3, t[3])),
    )


@jit_no_refcount
def uniforms_of_block(
    key: NDArray[np.uint32], record: int, stream: int, block: int, out: NDArray[np.float64]
) -> None:
    """Write the eight uniform numbers of one block.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    record, stream, block : int
        The address, as in `rwn_core.randomness.uniforms`.
    out : ndarray of float64, shape (8,)
    """
    s = uint32(0x61707865), uint32(0x3320646E), uint32(0x79622D32), uint32(0x6B206574)
    k, h = (key[0], key[1], key[2], key[3]), (key[4], key[5], key[6], key[7])
    low, high = uint32(uint64(record)), uint32(uint64(record) >> uint64(32))
    t = low, high, uint32(uint64(stream)), uint32(uint64(block))
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = _uniforms(s, k, h, t)


@jit_no_refcount
def uniforms_of_streams(
    key: NDArray[np.uint32],
    record: int,
    streams: NDArray[np.uint32],
    first: int,
    block: int,
    out: NDArray[np.float64],
) -> None:
    """`uniforms_of_block` of one record and sixteen streams.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    record : int
    streams : ndarray of uint32
    first : int
        Where the sixteen begin in `streams`.
    block : int
    out : ndarray of float64, shape (8, VECTOR_WIDTH)
        Filled: a column for each stream.
    """
    s = (
        same(uint32(0x61707865)),
        same(uint32(0x3320646E)),
        same(uint32(0x79622D32)),
        same(uint32(0x6B206574)),
    )
    k = same(key[0]), same(key[1]), same(key[2]), same(key[3])
    h = same(key[4]), same(key[5]), same(key[6]), same(key[7])
    low, high = same(uint32(uint64(record))), same(uint32(uint64(record) >> uint64(32)))
    t = low, high, load(streams, (first,)), same(uint32(uint64(block)))
    u0, u1, u2, u3, u4, u5, u6, u7 = _uniforms(s, k, h, t)
    store(out, (0, 0), u0)
    store(out, (1, 0), u1)
    store(out, (2, 0), u2)
    store(out, (3, 0), u3)
    store(out, (4, 0), u4)
    store(out, (5, 0), u5)
    store(out, (6, 0), u6)
    store(out, (7, 0), u7)


@jit_entry
def uniforms_of_records(
    key: NDArray[np.uint32],
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
    stream: int,
    out: NDArray[np.float64],
) -> None:
    """Write the first two uniform numbers of many records in one stream.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    low, high : ndarray of uint32, shape (m,), m a multiple of VECTOR_WIDTH
        The words of the records' numbers.
    stream : int
    out : ndarray of float64, shape (2, m)
        Filled.
    """
    s = (
        same(uint32(0x61707865)),
        same(uint32(0x3320646E)),
        same(uint32(0x79622D32)),
        same(uint32(0x6B206574)),
    )
    k = same(key[0]), same(key[1]), same(key[2]), same(key[3])
    h = same(key[4]), same(key[5]), same(key[6]), same(key[7])
    column, block = same(uint32(uint64(stream))), same(uint32(0))
    for first in range(0, len(low), VECTOR_WIDTH):
        t = load(low, (first,)), load(high, (first,)), column, block
        units = _uniforms(s, k, h, t)
        store(out, (0, first), units[0])
        store(out, (1, first), units[1])


@jit_no_refcount
def ranks_of_streams(
    key: NDArray[np.uint32],
    record: int,
    streams: NDArray[np.uint32],
    size: int,
    modify: NDArray[np.float64],
    ranks: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> None:
    """Where the chains of one record's cells end: each rank is the last link of at most `size`.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    record : int
    streams : ndarray of uint32, shape (a multiple of VECTOR_WIDTH,)
    size : int
        Of the neighborhood; with less than 1, every rank is 1.
    modify, ranks : ndarray of float64, as long as `streams`
        Filled: the number that decides whether a cell is modified, and its donor's rank.
    unit : ndarray of float64, shape (8, VECTOR_WIDTH)
        Room to work in.
    """
    longest = same(np.float64(size))
    for first in range(0, len(streams), VECTOR_WIDTH):
        uniforms_of_streams(key, record, streams, first, 0, unit)
        store(modify, (first,), load(unit, (0, 0)))
        rank = same(1.0)
        last = rank
        block, step = 0, 1
        while True:
            while step < UNIFORMS:
                rank = following(rank, load(unit, (step, 0)))
                last = if_at_most(rank, longest, last)
                step += 1
            if where_at_most(rank, longest) == 0:
                break
            block, step = block + 1, 0
            uniforms_of_streams(key, record, streams, first, block, unit)
        store(ranks, (first,), last)


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
    """The chains of many cells, each up to the largest size that its record will have.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    records : ndarray of int64, shape (m,)
    streams : ndarray of int64, shape (p,)
    longest : ndarray of int64, shape (m,)
    modify : ndarray of float64, shape (m, p)
        Filled with the number that decides whether a cell is modified.
    ends : ndarray of int64, shape (m * p,)
        Filled with where each cell's links end.
    links : ndarray of int32, shape (room,)
        Filled as far as there is room.

    Returns
    -------
    int
        The room needed; call again with as much if there was less.
    """
    unit = np.empty(UNIFORMS)
    used, cell = 0, 0
    for row in range(len(records)):
        for column in range(len(streams)):
            uniforms_of_block(key, records[row], streams[column], 0, unit)
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
