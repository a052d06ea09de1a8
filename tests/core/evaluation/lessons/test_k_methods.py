"""The lesson on k-PRAM and k-noise: the bound of theorem 1, and mean squares by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
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


def test_expected_mean_squares_are_those_of_many_releases() -> None:
    data, k = lesson.table(lesson.TABLES[0]), 10
    found, values = lesson.k_methods(data, k=k), data.values("age")
    for params, change in ((rwn.KNoise(k=k), found.noise), (rwn.KPRAM(k=k), found.pram)):
        squares = [
            ((rwn.mask(data, params, seed=s).masked.values("age") - values) ** 2).mean()
            for s in range(60)
        ]
        error = np.std(squares, ddof=1) / np.sqrt(60)
        assert change.expected == pytest.approx(np.mean(squares), abs=4 * error)
        assert change.mse == squares[lesson.SEED]
        assert change.mse_error == pytest.approx(np.std(squares, ddof=1), rel=0.5)


def test_released_records_near_a_released_one_are_as_many_as_a_convolution_says() -> None:
    """The difference of two uniform draws has a triangle for its density."""
    data = lesson.table(lesson.TABLES[1])
    counted = lesson.near_released(data, k=10)
    half = lesson.k_methods(data, k=10).delta
    values = data.values("age")
    steps = np.linspace(-2 * half, 2 * half, 200_001)
    weight = (2 * half - np.abs(steps)) / (4 * half**2) * (steps[1] - steps[0])
    for at, mean, error in zip(counted.at, counted.mean, counted.error, strict=True):
        others = np.delete(values, np.flatnonzero(values == at)[0]) - at
        near = [float(weight[np.abs(steps + apart) <= half].sum()) for apart in others]
        assert mean == pytest.approx(1 + sum(near), abs=4 * error + 1e-3)
    assert counted.fewer > 0  # the theorem says nothing of these windows
