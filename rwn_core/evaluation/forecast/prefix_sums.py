"""Sums over neighborhoods that grow along one ranked list: many settings for the price of one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

NUMBERS_A_BLOCK = 4_000_000  # about 32 MB a working array


def record_blocks(
    starts: NDArray[np.int64], columns: int, settings: int
) -> Iterator[tuple[int, int]]:
    """Runs of records whose neighbor pairs fit into memory together.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Where each record's ranked neighbors begin.
    columns, settings : int
        Numbers held for each pair, and for each record.

    Yields
    ------
    first, end : int
        At least one record.
    """
    n = len(starts) - 1
    pairs = max(NUMBERS_A_BLOCK // max(columns, 1), 1)
    records = max(NUMBERS_A_BLOCK // max(columns * settings, 1), 1)
    first = 0
    while first < n:
        end = int(np.searchsorted(starts, starts[first] + pairs, side="right")) - 1
        end = min(max(end, first + 1), first + records, n)
        yield first, end
        first = end


def prefix_sums(
    values: NDArray[np.float64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Sum of each record's first neighbors, for several neighborhood sizes.

    Parameters
    ----------
    values : ndarray of float64, shape (P, c)
        Of every pair's neighbor, record after record, nearest first.
    starts : ndarray of int64, shape (b + 1,)
        Where each record's pairs begin; the first is 0.
    sizes : ndarray of int64, shape (s, b)
        How many neighbors each setting takes.

    Returns
    -------
    ndarray of float64, shape (s, b, c)

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [4.0], [8.0]])
    >>> prefix_sums(values, np.array([0, 3, 4]), np.array([[1, 1], [3, 1]]))[..., 0].tolist()
    [[1.0, 8.0], [7.0, 8.0]]
    """
    running = np.empty((len(values) + 1, values.shape[1]))
    running[0] = 0.0
    np.cumsum(values, axis=0, out=running[1:])
    begin = starts[:-1]
    return np.asarray(running[begin + sizes] - running[begin], dtype=np.float64)
