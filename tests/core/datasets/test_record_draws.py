"""Compiled draws of many records are those of the reference, whatever their numbers."""

from __future__ import annotations

import numpy as np

from rwn_core.datasets.record_draws import two_uniforms
from rwn_core.randomness import ORDER_STREAM, SecretKey, uniforms


def test_many_records_have_the_numbers_of_the_reference() -> None:
    key = SecretKey.from_seed(7)
    every = np.concatenate((np.arange(1000), 2**32 + np.arange(-3, 30), [2**40]))
    for records in (every, every[::-1], every[:16], every[:1], every[:0]):
        for stream in (5, ORDER_STREAM):
            wanted = uniforms(key, records, stream)[:2]
            np.testing.assert_array_equal(two_uniforms(key, records, stream), wanted)
