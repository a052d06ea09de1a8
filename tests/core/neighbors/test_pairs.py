"""Pair numbers: PAIR-1 and PAIR-2 of the check values, and every pair of small tables."""

from __future__ import annotations

from itertools import combinations
from math import isqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates import LARGEST_N, numbered_pairs, random_pairs
from rwn_core.randomness import SecretKey
from tests.check_values import check_values
from tests.oracles.pair_numbers import pair_of

KEY = SecretKey.from_seed(7)
EXPECTED = {key: entry["expected"] for key, entry in check_values("method").items()}


def both(number: int) -> tuple[int, int]:
    i, j = numbered_pairs(np.array([number]))
    assert pair_of(number) == (i[0], j[0])
    return pair_of(number)


def test_PAIR_1_the_first_pairs():
    expected = EXPECTED["PAIR-1"]["correct"]
    assert [[number, list(both(number))] for number, _ in expected] == expected
    printed = EXPECTED["PAIR-1"]["as_printed_in_paper"]
    differing = [number for number, pair in printed if list(both(number)) != pair]
    assert differing == [2, 5, 8, 9, 13, 14]  # those of the paper are no pairs


@pytest.mark.parametrize("n", [2, 3, 50, 200])
def test_every_pair_has_one_number(n):
    i, j = numbered_pairs(np.arange(1, n * (n - 1) // 2 + 1))
    pairs = list(zip(i.tolist(), j.tolist(), strict=True))
    assert sorted(pairs) == list(combinations(range(1, n + 1), 2))
    assert pairs == [pair_of(number) for number in range(1, len(pairs) + 1)]


def test_PAIR_2_large_numbers():
    expected = EXPECTED["PAIR-2"]
    last, before = expected["n1e9_last"], expected["n1e9_last_minus_1"]
    for number, pair in (last, before, *expected["big"]):
        assert list(both(number)) == pair
    square = 8 * before[0] + 1
    roots = [int(np.sqrt(float(square))), isqrt(square)]  # a float root would be wrong
    assert roots == expected["float_sqrt_vs_isqrt_at_n1e9_last_minus_1"]
    assert expected["largest_n_for_signed_64bit"] == LARGEST_N


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


def test_M2_1_the_mean_number_of_partners_is_exact_and_its_spread_as_expected():
    expected, variances = EXPECTED["M2-1"], []
    n, pairs = expected["n"], expected["ns"]
    for seed in range(20):
        degree = partners(seed, n, pairs)
        assert degree.mean() == expected["mean_degree"]
        assert degree.min() > 0
        variances.append(degree.var())
    assert np.mean(variances) == pytest.approx(expected["var_degree"], rel=0.03)
    assert np.mean(variances) == pytest.approx(19.79, rel=0.03)  # m (1 - m / n), less 1/n


def test_M2_1_who_is_nobodys_partner():
    """With m partners on average a share exp(-m) has none."""
    expected = EXPECTED["M2-1"]
    assert stats.poisson.pmf(0, 20) == pytest.approx(expected["p_zero_m20"])
    share = expected["expected_isolated_m5_n1e6"] / 1e6
    assert stats.poisson.pmf(0, 5) == pytest.approx(share)
    alone = sum((partners(seed, 20_000, 50_000) == 0).sum() for seed in range(5))
    assert alone == pytest.approx(100_000 * share, abs=4 * np.sqrt(100_000 * share))


def partners(seed: int, n: int, pairs: int) -> NDArray[np.int64]:
    i, j = random_pairs(SecretKey.from_seed(seed), n, pairs)
    return np.bincount(np.concatenate((i, j)), minlength=n)


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
