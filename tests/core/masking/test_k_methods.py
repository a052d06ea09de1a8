"""k-noise and k-PRAM against their theorems: reach, the bound of one half, mean squares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.masking.intervals import intervals
from rwn_core.masking.k_noise import delta
from tests.check_values import check_values
from tests.oracles.reach_of_noise import (
    AGES,
    GAP,
    ages,
    least_within_reach,
    near_and_expected,
    resampling_error,
)

K = 10


def test_delta_is_such_that_k_are_near_everybody_and_expectations_are_met_by_draws() -> None:
    values = ages(AGES)
    half = delta(np.sort(values), K)
    near, expected = near_and_expected(values, K)
    apart = np.abs(values[:, None] - values)
    assert near.min() >= K
    assert (apart <= 2 * (half - 0.01)).sum(axis=1).min() < K
    noise = np.random.default_rng(2).uniform(-half, half, (400, len(values)))
    at = np.unique(values)[::10]
    draws = np.array(
        [(np.abs(row - at[:, None]) <= 2 * half).sum(axis=1) for row in values + noise]
    )
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - expected[::10]) < 4 * error + 1e-9).all()


def test_the_bound_of_one_half_holds_and_is_attained_at_the_gap() -> None:
    for k in (2, 7, 25, 60):
        assert least_within_reach(AGES, k) > 0.5
    assert least_within_reach(GAP, K) == pytest.approx((1 + 120 / 2) / 121)
    near, expected = near_and_expected(ages(GAP), K)
    assert np.unique(ages(GAP))[np.argmin(expected / near)] == 50


def test_KN_3_five_ages_and_noise_of_half_width_two_and_a_half() -> None:
    expected = check_values("method")["KN-3"]["expected"]
    group = np.zeros(100, dtype=np.int64)
    found = resampling_error(np.repeat(np.arange(5.0), 20), group)
    assert found == pytest.approx(expected["kpram_discrete"])
    assert pytest.approx(expected["knoise"]) == 2.5**2 / 3


def test_expected_mean_squares_are_those_of_many_releases() -> None:
    values = ages(AGES)
    schema = rwn.Schema(variables=(rwn.Variable(name="age", kind=rwn.Kind.CONTINUOUS),))
    data = rwn.Microdata.from_frame(pd.DataFrame({"age": values.astype(float)}), schema)
    of_noise = delta(np.sort(values), K) ** 2 / 3
    of_resampling = resampling_error(values, intervals(values, K))
    for params, expected in ((rwn.KNoise(k=K), of_noise), (rwn.KPRAM(k=K), of_resampling)):
        squares = [
            ((rwn.mask(data, params, seed=s).masked.values("age") - values) ** 2).mean()
            for s in range(60)
        ]
        error = np.std(squares, ddof=1) / np.sqrt(60)
        assert expected == pytest.approx(np.mean(squares), abs=4 * error)
