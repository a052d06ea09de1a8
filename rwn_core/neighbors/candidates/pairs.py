"""Method 2: neighbors from random pairs of records."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates.assemble import table_of_pairs
from rwn_core.neighbors.candidates.sample import random_others
from rwn_core.neighbors.distance import squared_distances
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits
from rwn_core.randomness import ISOLATED_STREAM, PAIRS_STREAM, SecretKey, words64

LARGEST_N = 1_518_500_250  # 8 r + 1 fits into 63 bits for every pair number r
LARGEST_ROOT = isqrt(2**63 - 1)
WORDS_A_BLOCK = 8
BLOCKS = 1 << 16  # cipher blocks made at a time
BYTES_A_PARTNER = 100  # while they are ranked: numbers, distances, and two orders of them


def paired_table(
    points: Points,
    k: int | None,
    *,
    m: int,
    key: SecretKey,
    budget: float | None = None,
) -> NeighborTable:
    """Every record's partners in floor(n m / 2) random pairs, ranked.

    A record that no pair has is given max(1, k) random others; they do not get it in return,
    so that nobody else's partners depend on it.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
        A record with fewer partners has them all.
    m : int
        Mean number of partners, at most n - 1.
    key : SecretKey
    budget : float, optional
        Bytes of memory that may be used.

    Returns
    -------
    NeighborTable

    Raises
    ------
    ParameterError
        The pairs would not fit.
    """
    n = len(points)
    needed = BYTES_A_PARTNER * float(n) * m
    check_fits(needed, budget_bytes(budget), "Ranking these pairs", "take a smaller m")
    i, j = random_pairs(key, n, n * m // 2)
    rows, others = np.concatenate((i, j)), np.concatenate((j, i))
    alone = np.flatnonzero(np.bincount(rows, minlength=n) == 0)
    if len(alone):
        count = min(max(1, k or 0), n - 1)
        given = random_others(key, alone, n, count, ISOLATED_STREAM)
        rows = np.concatenate((rows, np.repeat(alone, count)))
        others = np.concatenate((others, given.ravel()))
    return table_of_pairs(n, rows, others, squared_distances(points, rows, others))


def pairs_of(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`pair_of` for many numbers at once.

    Parameters
    ----------
    numbers : ndarray of int64, shape (m,)
        From 1 to n (n - 1) / 2 for n up to 1,518,500,250.

    Returns
    -------
    i, j : ndarray of int64, shape (m,)
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
    numbers = np.empty(0, dtype=np.int64)
    counter = 0
    # words from here on would make the smallest remainders more likely than the others
    fair = np.uint64((1 << 64) - (1 << 64) % total - 1)
    while len(numbers) < count:
        wanted = (count - len(numbers)) // WORDS_A_BLOCK + 8
        blocks = np.arange(counter, counter + min(wanted, BLOCKS))
        counter += len(blocks)
        words = words64(key, blocks, PAIRS_STREAM).T.ravel()
        words = words[words <= fair]
        numbers = np.concatenate((numbers, (words % np.uint64(total)).astype(np.int64) + 1))
        if len(numbers) >= count:
            _, first = np.unique(numbers, return_index=True)
            numbers = numbers[np.sort(first)]
    return numbers[:count]
