"""The paper on k-PRAM and k-noise: the bound of theorem 1, and mean squares by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from benchmarks.papers import k_methods as paper
from tests.check_values import check_values

ENTRIES = check_values("method")


def test_delta_is_such_that_k_are_near_everybody_and_expectations_are_met_by_draws() -> None:
    data = paper.table(paper.TABLES[0])
    values, k = data.values("age"), 10
    found = paper.k_methods(data, k=k)
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
        assert paper.k_methods(paper.table(paper.TABLES[0]), k=k).smallest > 0.5
    gap = paper.k_methods(paper.table(paper.TABLES[1]), k=10)
    assert gap.smallest == pytest.approx((1 + 120 / 2) / 121)
    assert gap.at[np.argmin(gap.expected / gap.near)] == 50


def test_KN_3_five_ages_and_noise_of_half_width_two_and_a_half() -> None:
    expected = ENTRIES["KN-3"]["expected"]
    ages = np.repeat(np.arange(5.0), 20)
    group = np.zeros(100, dtype=np.int64)
    assert paper.resampling_error(ages, group) == pytest.approx(expected["kpram_discrete"])
    assert pytest.approx(expected["knoise"]) == 2.5**2 / 3


def test_expected_mean_squares_are_those_of_many_releases() -> None:
    data, k = paper.table(paper.TABLES[0]), 10
    found, values = paper.k_methods(data, k=k), data.values("age")
    for params, change in ((rwn.KNoise(k=k), found.noise), (rwn.KPRAM(k=k), found.pram)):
        squares = [
            ((rwn.mask(data, params, seed=s).masked.values("age") - values) ** 2).mean()
            for s in range(60)
        ]
        error = np.std(squares, ddof=1) / np.sqrt(60)
        assert change.expected == pytest.approx(np.mean(squares), abs=4 * error)
        assert change.mse == squares[paper.SEED]
        assert change.mse_error == pytest.approx(np.std(squares, ddof=1), rel=0.5)
