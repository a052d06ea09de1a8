"""Random others of a record: m different ones, uniformly, keyed by the record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.randomness import UNIFORMS_A_BLOCK, SecretKey, uniforms

CROWDED = 3  # a sample of more than one in so many is drawn by ordering everybody


def random_others(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    """Different others of some records, each set of m equally likely.

    Parameters
    ----------
    key : SecretKey
    records : ndarray of int64, shape (c,)
    n : int
        Records of the table.
    m : int
        At most n - 1.
    stream : int

    Returns
    -------
    ndarray of int64, shape (c, m)
    """
    if CROWDED * m > n - 1:
        found = _first_in_order(key, records, n, m, stream)
    else:
        found = _first_different(key, records, n, m, stream)
    return found + (found >= records[:, None])  # a record is not among its others


def _numbers(
    key: SecretKey, records: NDArray[np.int64], count: int, stream: int
) -> NDArray[np.float64]:
    """Uniform numbers of each record, shape (c, at least count)."""
    blocks = range(-(-count // UNIFORMS_A_BLOCK))
    return np.concatenate([uniforms(key, records, stream, block) for block in blocks]).T


def _first_in_order(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    marks = _numbers(key, records, n - 1, stream)[:, : n - 1]
    return np.argpartition(marks, m - 1, axis=1)[:, :m]


def _first_different(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    """The first m different ones of a sequence drawn with replacement."""
    count = m
    while True:
        count += m // 4 + 8
        # 52 random bits make the bias of the product at most n / 2^52
        drawn = (_numbers(key, records, count, stream) * (n - 1)).astype(np.int64)
        order = np.argsort(drawn, axis=1, kind="stable")
        together = np.take_along_axis(drawn, order, 1)
        repeated = np.zeros(drawn.shape, dtype=bool)
        repeated[:, 1:] = together[:, 1:] == together[:, :-1]
        new = np.empty_like(repeated)
        np.put_along_axis(new, order, ~repeated, 1)
        wanted = new & (np.cumsum(new, axis=1) <= m)
        if (wanted.sum(axis=1) == m).all():
            return drawn[wanted].reshape(len(records), m)
