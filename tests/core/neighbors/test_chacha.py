"""Compiled randomness: the same bits as the reference, which the published answers check."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.laws.donors import Draws
from rwn_core.neighbors.kernels.chacha import (
    chains,
    ranks_of_streams,
    uniforms_of_block,
    uniforms_of_streams,
)
from rwn_core.neighbors.kernels.simd import VECTOR_WIDTH, padded
from rwn_core.randomness import SecretKey, uniforms
from tests.core.neighbors.callable_kernels import callable_here

ranks_of_streams, uniforms_of_block, uniforms_of_streams = callable_here(
    ranks_of_streams, uniforms_of_block, uniforms_of_streams
)

KEYS = [SecretKey(bytes(32)), SecretKey(bytes(range(32))), SecretKey.from_seed(7)]
LARGEST = 2**31 - 2


def block_of(key: SecretKey, record: int, stream: int, block: int) -> np.ndarray:
    out = np.empty(8)
    uniforms_of_block(key.words, record, stream, block, out)
    return out


@pytest.mark.parametrize("key", KEYS)
def test_every_address_gives_the_same_bits(key):
    rng = np.random.default_rng(1)
    addresses = [(0, 0, 0), (5, 7, 3), (2**32 + 5, 2**32 - 1, 1), (2**40, 0, 2**32 - 1)]
    addresses += [tuple(rng.integers(0, [2**33, 2**32, 40])) for _ in range(200)]
    for record, stream, block in addresses:
        reference = uniforms(key, np.array([record]), stream, block)[:, 0]
        np.testing.assert_array_equal(block_of(key, record, stream, block), reference)


def test_the_published_block_of_a_zero_key():
    """RFC 8439, appendix A.1, vector 1: words ade0b876 903df1a0 ... 69b687c3 8665eeb2."""
    result = block_of(KEYS[0], 0, 0, 0)
    assert result[0] == ((0xADE0B876903DF1A0 >> 12) + 0.5) / 2**52
    assert result[7] == ((0x69B687C38665EEB2 >> 12) + 0.5) / 2**52


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10, 100, 1000, 10**6, LARGEST])
def test_the_chains_end_where_the_plain_ones_do(size):
    key, columns, records = KEYS[2], range(20), np.arange(500)
    reference = Draws(key, records, columns)
    ends, streams = reference.ranks(np.full(len(records), size)), padded(columns)
    modify, ranks = np.empty(len(streams)), np.empty(len(streams))
    for record in records:
        ranks_of_streams(
            key.words, record, streams, size, modify, ranks, np.empty((8, VECTOR_WIDTH))
        )
        np.testing.assert_array_equal(modify[:20], reference.modify[record])
        np.testing.assert_array_equal(ranks[:20], ends[record])


def test_stored_chains_answer_for_every_smaller_size():
    key, records, streams = KEYS[2], np.array([3, 70, 2**33]), np.array([0, 4])
    longest = np.array([1, 50, 100_000])
    modify, ends = np.empty((3, 2)), np.empty(6, np.int64)
    arguments = (key.words, records, streams, longest, modify, ends)
    needed = chains(*arguments, np.empty(1, np.int32))
    links = np.empty(needed, np.int32)
    assert chains(*arguments, links) == needed
    draws = Draws(key, records, streams.tolist())
    np.testing.assert_array_equal(modify, draws.modify)
    starts = np.concatenate(([0], ends[:-1]))
    for size in (1, 2, 17, 50, 4000, 100_000):
        sizes = np.minimum(longest, size)
        ranks = draws.ranks(sizes).ravel()
        for cell, (start, end) in enumerate(zip(starts, ends, strict=True)):
            chain = links[start:end]
            assert chain[chain <= sizes[cell // 2]][-1] == ranks[cell]


def test_sixteen_streams_side_by_side_give_the_bits_of_each():
    streams = padded([0, 1, 2**32 - 1, 77])
    assert len(streams) == VECTOR_WIDTH
    many, one = np.empty((8, VECTOR_WIDTH)), np.empty(8)
    for record, block in ((0, 0), (2**33 + 5, 3)):
        uniforms_of_streams(KEYS[2].words, record, streams, 0, block, many)
        for column, stream in enumerate(streams):
            uniforms_of_block(KEYS[2].words, record, int(stream), block, one)
            np.testing.assert_array_equal(many[:, column], one)
