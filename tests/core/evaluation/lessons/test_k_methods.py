"""The lesson on k-PRAM and k-noise: the bound of theorem 1, and mean squares by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.evaluation.lessons import k_methods as lesson
from tests.check_values import check_values

ENTRIES = check_values("method")


def test_delta_is_such_that_k_are_near_everybody_and_expectations_are_met_by_draws() -> None:
    data = lesson.table(lesson.TABLES[0])
    values, k = data.values("age"), 10
    found = lesson.k_methods(data, k=k)
    apart = np.abs(values[:, None] - values)
    assert found.near.min() >= k
    assert ((apart <= 2 * (found.delta - 0.01)).sum(axis=1)).min() < k
    noise = np.random.default_rng(2).uniform(-found.delta, found.delta, (400, len(values)))
    draws = np.array(
        [
            [(np.abs(row - at) <= 2 * found.delta).sum() for at in found.at[::10]]
            for row in values + noise
        ]
    )
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - found.expected[::10]) < 4 * error + 1e-9).all()


def test_the_bound_of_one_half_holds_and_is_attained_at_the_gap() -> None:
    for k in (2, 7, 25, 60):
        assert lesson.k_methods(lesson.table(lesson.TABLES[0]), k=k).smallest > 0.5
    gap = lesson.k_methods(lesson.table(lesson.TABLES[1]), k=10)
    assert gap.smallest == pytest.approx((1 + 120 / 2) / 121)
    assert gap.at[np.argmin(gap.expected / gap.near)] == 50


def test_KN_3_five_ages_and_noise_of_half_width_two_and_a_half() -> None:
    expected = ENTRIES["KN-3"]["expected"]
    ages = np.repeat(np.arange(5.0), 20)
    group = np.zeros(100, dtype=np.int64)
    assert lesson.resampling_error(ages, group) == pytest.approx(expected["kpram_discrete"])
    assert pytest.approx(expected["knoise"]) == 2.5**2 / 3
