"""Compiled randomness: the same bits as the reference, which the published answers check."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.neighbors.chacha_kernel import (
    last_rank,
    uniforms_of_block,
    uniforms_of_records,
)
from rwn_core.randomness import SecretKey, uniforms
from tests.core.neighbors.callable_kernels import callable_here
from tests.oracles.record_chain import RecordChain

last_rank, uniforms_of_block = callable_here(last_rank, uniforms_of_block)

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
    key, columns, records = KEYS[2], range(8), np.arange(120)
    reference = RecordChain(key, records, columns)
    ends = reference.ranks(np.full(len(records), size))
    for record in records:
        for column in columns:
            unit = block_of(key, record, column, 0)
            assert unit[0] == reference.modify[record, column]
            assert last_rank(key.words, record, column, 0, size, unit) == ends[record, column]


def test_two_numbers_of_many_records_are_those_of_each():
    records = np.array([0, 1, 77, 2**33 + 5])
    many = np.empty((2, len(records)))
    uniforms_of_records(KEYS[2].words, records, 9, many)
    for column, record in enumerate(records):
        np.testing.assert_array_equal(many[:, column], block_of(KEYS[2], record, 9, 0)[:2])
