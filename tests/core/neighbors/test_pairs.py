"""Pair numbers: PAIR-1 and PAIR-2 of the check values, and every pair of small tables."""

from __future__ import annotations

from itertools import combinations
from math import isqrt

import numpy as np
import pytest
from scipy import stats

from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates import LARGEST_N, numbered_pairs, random_pairs
from rwn_core.randomness import SecretKey
from tests.oracles.pair_numbers import pair_of

KEY = SecretKey.from_seed(7)
FIRST = [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5)]
LARGE = {
    499999999500000000: (999999999, 1000000000),
    499999999499999999: (999999998, 1000000000),
    100000000000000000: (447194785, 447213596),
    400000000000000000: (447138355, 894427192),
}


def both(number: int) -> tuple[int, int]:
    i, j = numbered_pairs(np.array([number]))
    assert pair_of(number) == (i[0], j[0])
    return pair_of(number)


def test_the_first_pairs():
    assert [both(number) for number in range(1, 11)] == FIRST
    assert [both(number) for number in range(11, 16)] == [(i, 6) for i in range(1, 6)]


@pytest.mark.parametrize("n", [2, 3, 50, 200])
def test_every_pair_has_one_number(n):
    i, j = numbered_pairs(np.arange(1, n * (n - 1) // 2 + 1))
    pairs = list(zip(i.tolist(), j.tolist(), strict=True))
    assert sorted(pairs) == list(combinations(range(1, n + 1), 2))
    assert pairs == [pair_of(number) for number in range(1, len(pairs) + 1)]


@pytest.mark.parametrize("number", LARGE)
def test_large_numbers(number):
    assert both(number) == LARGE[number]


def test_where_a_float_root_would_be_wrong():
    square = 8 * 499999999499999999 + 1
    assert int(np.sqrt(float(square))) == 1999999999 != isqrt(square) == 1999999998


def test_numbers_around_whole_roots_up_to_the_largest_table():
    total = LARGEST_N * (LARGEST_N - 1) // 2
    assert 8 * total + 1 < 2**63
    for j in (2, 3, 10**6, 94_906_266, 10**9, LARGEST_N):
        last = j * (j - 1) // 2
        for number in (last - 1, last, last + 1):
            if 1 <= number <= total:
                i, column = both(number)
                assert 1 <= i < column
                assert (column - 1) * (column - 2) // 2 + i == number


@pytest.mark.parametrize(("n", "count"), [(2, 1), (5, 10), (40, 300), (40, 500), (2000, 20_000)])
def test_pairs_are_different(n, count):
    i, j = random_pairs(KEY, n, count)
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == count
    assert (i < j).all()
    assert i.min() >= 0
    assert j.max() < n


def test_the_mean_number_of_partners_is_exact_and_its_spread_as_expected():
    """M2-1: n = 2000, m = 20; the variance of a degree is 19.861."""
    variances = []
    for seed in range(20):
        i, j = random_pairs(SecretKey.from_seed(seed), 2000, 20_000)
        degree = np.bincount(np.concatenate((i, j)), minlength=2000)
        assert degree.mean() == 20.0
        variances.append(degree.var())
    assert np.mean(variances) == pytest.approx(19.79, rel=0.03)  # m (1 - m / n), less 1/n


@pytest.mark.parametrize("count", [3, 8])
def test_every_pair_is_equally_likely(count):
    """Drawn one by one, and by what is left out."""
    seen = np.zeros((5, 5))
    for seed in range(2000):
        i, j = random_pairs(SecretKey.from_seed(seed), 5, count)
        seen[i, j] += 1
    counts = seen[np.triu_indices(5, 1)]
    assert counts.sum() == 2000 * count
    # without replacement the counts vary less than a multinomial's: scale by what is left out
    statistic = ((counts - 200 * count) ** 2 / (200 * count)).sum() / (1 - count / 10) * 9 / 10
    assert stats.chi2.sf(statistic, 9) > 1e-6


def test_more_records_than_whole_numbers_can_tell_are_refused():
    with pytest.raises(ParameterError, match="1,518,500,250"):
        random_pairs(KEY, LARGEST_N + 1, 10)
