"""Random pairs of records: whole numbers, mapped to pairs without floating point deciding."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.randomness import PAIRS_STREAM, SecretKey, words64

LARGEST_N = 1_518_500_250  # 8 r + 1 fits into 63 bits for every pair number r
LARGEST_ROOT = isqrt(2**63 - 1)
WORDS_A_BLOCK = 8
BLOCKS = 1 << 16  # cipher blocks made at a time


def pairs_of(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the pairs i < j that numbers from 1 stand for, records counted from 1.

    The order is by columns: (1, 2), (1, 3), (2, 3), (1, 4), ...

    Parameters
    ----------
    numbers : ndarray of int64, shape (m,)
        From 1 to n (n - 1) / 2 for n up to 1,518,500,250.

    Returns
    -------
    i, j : ndarray of int64, shape (m,)

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11, with its mapping corrected.

    Examples
    --------
    >>> i, j = pairs_of(np.arange(1, 5))
    >>> list(zip(i.tolist(), j.tolist(), strict=True))
    [(1, 2), (1, 3), (2, 3), (1, 4)]
    """
    square = 8 * numbers + 1
    # above 2^53 the float root may be off by one: whole numbers put it right, without a product
    # that could exceed 63 bits
    root = np.minimum(np.sqrt(square.astype(np.float64)).astype(np.int64), LARGEST_ROOT)
    root -= root * root > square
    root += square - root * root > 2 * root
    j = np.where(root * root == square, (1 + root) // 2, (3 + root) // 2)
    return numbers - (j - 1) * (j - 2) // 2, j


def random_pairs(key: SecretKey, n: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different pairs of records, each set of `count` equally likely.

    Parameters
    ----------
    key : SecretKey
    n : int
    count : int
        At most n (n - 1) / 2.

    Returns
    -------
    i, j : ndarray of int64, shape (count,)
        Records counted from 0, i < j.

    Raises
    ------
    ParameterError
    """
    if n > LARGEST_N:
        raise ParameterError(f"Pairs can be sampled from at most {LARGEST_N:,} records.")
    total = n * (n - 1) // 2
    if 2 * count > total:  # fewer are left out than taken
        left_out = _different_numbers(key, total, total - count)
        numbers = np.setdiff1d(np.arange(1, total + 1), left_out, assume_unique=True)
    else:
        numbers = _different_numbers(key, total, count)
    i, j = pairs_of(numbers)
    return i - 1, j - 1


def _different_numbers(key: SecretKey, total: int, count: int) -> NDArray[np.int64]:
    """The first `count` different ones of a sequence of uniform numbers from 1 to `total`."""
    found = np.empty(0, dtype=np.int64)
    counter = 0
    # words from here on would make the smallest remainders more likely than the others
    fair = np.uint64((1 << 64) - (1 << 64) % total - 1)
    while len(found) < count:
        wanted = (count - len(found)) // WORDS_A_BLOCK + 8
        blocks = np.arange(counter, counter + min(wanted, BLOCKS))
        counter += len(blocks)
        words = words64(key, blocks, PAIRS_STREAM).T.ravel()
        words = words[words <= fair]
        found = np.concatenate((found, (words % np.uint64(total)).astype(np.int64) + 1))
        if len(found) >= count:
            _, first = np.unique(found, return_index=True)
            found = found[np.sort(first)]
    return found[:count]
