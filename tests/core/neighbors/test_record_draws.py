"""Draws of many records are those of the reference, and random orders are permutations."""

from __future__ import annotations

import numpy as np
from scipy import stats

from rwn_core.neighbors.record_draws import order_by, random_order, two_uniforms
from rwn_core.neighbors.table import LARGEST_DENSE
from rwn_core.randomness import ORDER_STREAM, SecretKey, uniforms


def test_many_records_have_the_numbers_of_the_reference() -> None:
    key = SecretKey.from_seed(7)
    every = np.concatenate((np.arange(LARGEST_DENSE), 2**32 + np.arange(-3, 9), [2**40]))
    every.setflags(write=False)
    for records in (every, every[::-1], every[: LARGEST_DENSE + 1], every[:16], every[:0]):
        for stream in (5, ORDER_STREAM):
            wanted = uniforms(key, records, stream)[:2]
            np.testing.assert_array_equal(two_uniforms(key, records, stream), wanted)


def test_ties_are_ordered_by_the_second_number() -> None:
    first, second = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.3, 0.2, 0.1])
    assert order_by(first, second).tolist() == [3, 1, 2, 0]
    assert order_by(second, first).tolist() == [3, 2, 1, 0]


def test_random_order_is_a_keyed_permutation() -> None:
    order = random_order(SecretKey.from_seed(7), 100)
    assert sorted(order) == list(range(100))
    assert not np.array_equal(order, random_order(SecretKey.from_seed(8), 100))
    orders = [tuple(random_order(SecretKey.from_seed(seed), 3)) for seed in range(1200)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-6
