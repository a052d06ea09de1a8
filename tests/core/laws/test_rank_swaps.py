"""Swapping along ranks: partners by hand, and their chances by enumeration."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.laws.rank_swaps import (
    descending,
    moore_partners,
    mu_argus_partners,
    whole_part,
)
from rwn_core.masking import RankSwapping
from rwn_core.randomness import SecretKey

NAN = np.nan


def test_shares_of_counts_are_unharmed_by_rounding() -> None:
    assert [whole_part(x) for x in (0.29 * 100, 28.999, 29.0, 0.0, 1 - 1e-10)] == [29, 28, 29, 0, 1]


def test_partners_by_hand() -> None:
    uniform = np.array([0.0, 0.9, 0.5, 0.0, 0.99, 0.0, 0.0])
    # 0 takes 1, the first of 1 and 2; 2 takes 4, the second of 3 and 4; 3 takes 5; 6 is alone
    assert moore_partners(3, uniform).tolist() == [1, 0, 4, 5, 2, 3, 6]
    assert moore_partners(2, uniform).tolist() == [1, 0, 3, 2, 5, 4, 6]
    assert moore_partners(1, uniform).tolist() == list(range(7))
    assert moore_partners(0, uniform).tolist() == list(range(7))
    last = np.full(4, 0.999)
    assert moore_partners(9, last).tolist() == [3, 2, 1, 0]
    # of the other form: 0 aims at 1 + 0; 2 at 3 + 1; 3 at 4, and finds 5 after it; 6 is the last
    assert mu_argus_partners(3, uniform).tolist() == [1, 0, 4, 5, 2, 3, 6]
    assert mu_argus_partners(1, uniform).tolist() == [1, 0, 3, 2, 5, 4, 6]
    assert mu_argus_partners(0, uniform).tolist() == list(range(7))
    # 0 takes 2; 1 aims at 2, which is gone, and nothing free lies before it: 3 comes after it
    assert mu_argus_partners(2, np.array([0.9, 0.4, 0.0, 0.0, 0.0])).tolist() == [2, 3, 0, 1, 4]
    # 1 aims at 2 and may not go so far as 3
    assert mu_argus_partners(1, np.array([0.0, 0.0, 0.0])).tolist() == [1, 0, 2]


def slow_mu_argus(reach: int, uniform: np.ndarray) -> list[int]:
    n = len(uniform)
    partner = list(range(n))
    for place in range(n - 1):
        if reach and partner[place] == place:
            aim = min(place + 1 + int(reach * uniform[place]), n - 1)
            order = [*range(aim, place, -1), *range(aim + 1, min(n - 1, place + reach) + 1)]
            free = [other for other in order if partner[other] == other]
            if free:
                partner[place], partner[free[0]] = free[0], place
    return partner


def test_the_nearest_free_rank_before_the_aim_or_else_after_it() -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 7, 12):
        for reach in (0, 1, 2, 5, 20):
            for _ in range(10):
                uniform = rng.random(n)
                assert mu_argus_partners(reach, uniform).tolist() == slow_mu_argus(reach, uniform)


def test_the_range_of_ranks_that_is_asked_for() -> None:
    ranked = np.array([10.0, 8.0, 6.0, 2.0, 0.0])  # the middle has variance 56 / 9, mean 16 / 3
    r0, k0 = np.sqrt(2 * 56 / 9 * 0.5) / 10, np.sqrt(8 / 3) * 0.25 * 16 / 3 / 10
    assert RankSwapping(p=0.0, r0=0.5, k0=0.0).fraction(ranked, 1, 4) == pytest.approx(r0)
    assert RankSwapping(p=0.0, r0=1.0, k0=0.25).fraction(ranked, 1, 4) == pytest.approx(k0)
    assert RankSwapping(p=0.0, r0=1.0, k0=0.25).fraction(-ranked[::-1], 1, 4) == pytest.approx(k0)
    assert RankSwapping(p=0.9, r0=0.5, k0=0.25).fraction(ranked, 1, 4) == 0.9
    assert RankSwapping(p=0.0, r0=0.0, k0=0.0).fraction(ranked, 0, 5) == pytest.approx(
        np.sqrt(2 * 13.76) / 10
    )
    assert RankSwapping(p=0.2, r0=0.0, k0=9.0).fraction(np.full(3, 4.0), 0, 3) == 0.2
    assert RankSwapping(p=0.3, r0=0.0, k0=9.0).fraction(ranked, 2, 2) == 0.3


def test_the_largest_come_first_and_ties_as_they_fall() -> None:
    values = np.array([2.0, NAN, 5.0, 2.0, 1.0])
    assert descending(values, np.array([0.9, 0, 0.5, 0.1, 0.3])).tolist() == [2, 3, 0, 4]
    assert descending(values, np.zeros(5)).tolist() == [2, 0, 3, 4]


@cache
def enumerated(
    n: int, reach: int, taken: frozenset[int] = frozenset(), place: int = 0
) -> np.ndarray:
    """The chances of pairs by following each case to its end."""
    if place == n:
        return np.zeros((n, n))
    if place in taken:
        return enumerated(n, reach, taken, place + 1)
    free = [j for j in range(place + 1, min(place + reach, n)) if j not in taken]
    if not free:
        found = enumerated(n, reach, taken, place + 1).copy()
        found[place, place] += 1
        return found
    found = np.zeros((n, n))
    for other in free:
        part = enumerated(n, reach, taken | {other}, place + 1).copy()
        part[place, other] += 1
        part[other, place] += 1
        found += part / len(free)
    return found


def test_partners_are_drawn_with_the_chances_of_all_cases() -> None:
    generator, exact = np.random.default_rng(3), enumerated(14, 5)
    draws = np.array([moore_partners(5, generator.random(14)) for _ in range(3000)])
    error = 4 * np.sqrt(exact * (1 - exact) / 3000) + 1e-9
    simulated = np.array([np.bincount(column, minlength=14) for column in draws.T]) / 3000
    assert (np.abs(simulated - exact) <= error).all()
    assert not (np.abs(simulated - enumerated(14, 6)) <= error).all()


def test_the_ends_become_their_means_and_the_others_stay() -> None:
    values = np.array([2.0, NAN, 5.0, 2.0, 1.0])
    data = Microdata.from_frame(pd.DataFrame({"x": values}))
    shown = RankSwapping(p=0.0, top=0.5, bottom=0.25).prepare(data).release(SecretKey.from_seed(1))
    np.testing.assert_array_equal(shown.masked.values("x"), [shown.masked.values("x")[0], NAN, 3.5,
        shown.masked.values("x")[3], 1.0])  # fmt: skip
    assert sorted(shown.masked.values("x")[[0, 3]].tolist()) == [2.0, 3.5]
    same = RankSwapping(p=0.0).prepare(data).release(SecretKey.from_seed(1)).masked
    np.testing.assert_array_equal(same.values("x"), values)
