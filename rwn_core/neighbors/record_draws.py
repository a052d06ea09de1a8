"""The randomness of a draw: two random numbers of each of many records, and random orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.neighbors.table import LARGEST_DENSE
from rwn_core.randomness import ORDER_STREAM, SecretKey, uniforms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawRequest:
    """The secret, and the use of it in each column."""

    key: SecretKey
    streams: Sequence[int]  # length p: columns of one stream have common donors
    q: Floats  # shape (p,): modification probability


def two_uniforms(key: SecretKey, records: Integers, stream: int) -> Floats:
    """Return the first two of `rwn_core.randomness.uniforms`, shape (2, N); many are compiled."""
    if len(records) <= LARGEST_DENSE:
        return uniforms(key, records, stream)[:2]
    from rwn_core.neighbors.chacha_kernel import uniforms_of_records

    draws = np.empty((2, len(records)))
    # a copy, since a read-only array is another type, for which the kernel compiles once more
    uniforms_of_records(key.words, np.array(records, dtype=np.int64), stream, draws)
    return draws


def uniforms_of_columns(key: SecretKey, n: int, streams: Sequence[int]) -> Floats:
    """Return the first of `rwn_core.randomness.uniforms` in each stream, shape (streams, n)."""
    records = np.arange(n)
    if n > LARGEST_DENSE:
        return np.array([two_uniforms(key, records, stream)[0] for stream in streams])
    every = np.tile(records, len(streams))
    drawn: Floats = uniforms(key, every, np.repeat(streams, n))[0].reshape(len(streams), n)
    return drawn


def order_by(first: Floats, second: Floats) -> Integers:
    """Return the ascending order by the first numbers, with ties ordered by the second."""
    order = np.argsort(first)
    ranked = first[order]
    if (ranked[1:] == ranked[:-1]).any():
        return np.lexsort((second, first))
    return order


def random_order(key: SecretKey, n: int, stream: int = ORDER_STREAM) -> Integers:
    """Return a uniformly random order of n records, shape (n,); that of a release by default."""
    first, second = two_uniforms(key, np.arange(n, dtype=np.int64), stream)
    return order_by(first, second)
