"""The record chain of a cell, from the same bits as in `rwn_core.randomness`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled, inlined, lean
from rwn_core.neighborhoods.compiled.lanes import (
    LANES,
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

UNIFORMS = 8  # a block's uniform numbers
FAR = 2**31 - 1


# numba computes sums of uint32 in 64 bits: every result is cast back before it is used
@inlined
def _rotated(word: Any, bits: Any) -> Any:
    return uint32(uint32(word << uint32(bits)) | uint32(word >> uint32(32 - bits)))


@inlined
def _quarter_round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a = uint32(a + b)
    d = _rotated(uint32(d ^ a), 16)
    c = uint32(c + d)
    b = _rotated(uint32(b ^ c), 12)
    a = uint32(a + b)
    d = _rotated(uint32(d ^ a), 8)
    c = uint32(c + d)
    b = _rotated(uint32(b ^ c), 7)
    return a, b, c, d


@inlined
def _uniform(high: Any, low: Any) -> Any:
    """52 of the bits of two words, strictly between 0 and 1."""
    bits = (uint64(high) << uint64(32)) | uint64(low)
    return (np.float64(bits >> uint64(12)) + 0.5) * 2.0**-52


@lean
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
    out[0] = _uniform(uint32(a0 + s0), uint32(a1 + s1))
    out[1] = _uniform(uint32(a2 + s2), uint32(a3 + s3))
    out[2] = _uniform(uint32(b0 + key[0]), uint32(b1 + key[1]))
    out[3] = _uniform(uint32(b2 + key[2]), uint32(b3 + key[3]))
    out[4] = _uniform(uint32(c0 + key[4]), uint32(c1 + key[5]))
    out[5] = _uniform(uint32(c2 + key[6]), uint32(c3 + key[7]))
    out[6] = _uniform(uint32(d0 + t0), uint32(d1 + t1))
    out[7] = _uniform(uint32(d2 + t2), uint32(d3 + t3))


@inlined
def _quarter_rounds(a: Any, b: Any, c: Any, d: Any) -> Any:
    a = add_words(a, b)
    d = turned(d, a, 16)
    c = add_words(c, d)
    b = turned(b, c, 12)
    a = add_words(a, b)
    d = turned(d, a, 8)
    c = add_words(c, d)
    b = turned(b, c, 7)
    return a, b, c, d


@lean
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
    out : ndarray of float64, shape (8, LANES)
        Filled: a column for each stream.
    """
    s0, s1 = same(uint32(0x61707865)), same(uint32(0x3320646E))
    s2, s3 = same(uint32(0x79622D32)), same(uint32(0x6B206574))
    k0, k1, k2, k3 = same(key[0]), same(key[1]), same(key[2]), same(key[3])
    k4, k5, k6, k7 = same(key[4]), same(key[5]), same(key[6]), same(key[7])
    t0, t1 = same(uint32(uint64(record))), same(uint32(uint64(record) >> uint64(32)))
    t2, t3 = load(streams, (first,)), same(uint32(uint64(block)))
    a0, a1, a2, a3 = s0, s1, s2, s3
    b0, b1, b2, b3 = k0, k1, k2, k3
    c0, c1, c2, c3 = k4, k5, k6, k7
    d0, d1, d2, d3 = t0, t1, t2, t3
    for _ in range(10):
        a0, b0, c0, d0 = _quarter_rounds(a0, b0, c0, d0)
        a1, b1, c1, d1 = _quarter_rounds(a1, b1, c1, d1)
        a2, b2, c2, d2 = _quarter_rounds(a2, b2, c2, d2)
        a3, b3, c3, d3 = _quarter_rounds(a3, b3, c3, d3)
        a0, b1, c2, d3 = _quarter_rounds(a0, b1, c2, d3)
        a1, b2, c3, d0 = _quarter_rounds(a1, b2, c3, d0)
        a2, b3, c0, d1 = _quarter_rounds(a2, b3, c0, d1)
        a3, b0, c1, d2 = _quarter_rounds(a3, b0, c1, d2)
    store(out, (0, 0), unit_of(add_words(a0, s0), add_words(a1, s1)))
    store(out, (1, 0), unit_of(add_words(a2, s2), add_words(a3, s3)))
    store(out, (2, 0), unit_of(add_words(b0, k0), add_words(b1, k1)))
    store(out, (3, 0), unit_of(add_words(b2, k2), add_words(b3, k3)))
    store(out, (4, 0), unit_of(add_words(c0, k4), add_words(c1, k5)))
    store(out, (5, 0), unit_of(add_words(c2, k6), add_words(c3, k7)))
    store(out, (6, 0), unit_of(add_words(d0, t0), add_words(d1, t1)))
    store(out, (7, 0), unit_of(add_words(d2, t2), add_words(d3, t3)))


@lean
def ranks_of_streams(
    key: NDArray[np.uint32],
    record: int,
    streams: NDArray[np.uint32],
    size: int,
    modify: NDArray[np.float64],
    ranks: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> None:
    """Where the chains of one record's cells end: each rank as `last_of_chain` finds it.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    record : int
    streams : ndarray of uint32, shape (a multiple of LANES,)
    size : int
        Of the neighborhood; with less than 1, every rank is 1.
    modify, ranks : ndarray of float64, as long as `streams`
        Filled: the number that decides whether a cell is modified, and its donor's rank.
    unit : ndarray of float64, shape (8, LANES)
        Room to work in.
    """
    longest = same(np.float64(size))
    for first in range(0, len(streams), LANES):
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


@lean
def last_of_chain(
    key: NDArray[np.uint32], record: int, stream: int, size: int, unit: NDArray[np.float64]
) -> int:
    """The rank of a cell's donor: the last link of its chain that is at most `size`.

    Parameters
    ----------
    key : ndarray of uint32, shape (8,)
    record, stream : int
    size : int
        Of the neighborhood, at least 1.
    unit : ndarray of float64, shape (8,)
        The cell's block 0; overwritten where the chain is longer.
    """
    rank = 1
    step = 1
    while True:
        if step % UNIFORMS == 0:
            uniforms_of_block(key, record, stream, step // UNIFORMS, unit)
        following = np.floor(rank / unit[step % UNIFORMS]) + 1.0
        if following > size:
            return rank
        rank = int(following)
        step += 1


@compiled
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
