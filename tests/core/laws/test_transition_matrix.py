"""Transition matrices against published values: swapping, PRAM in two stages, estimates."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.laws.transition_matrix import (
    disjoint_share,
    invariant,
    mixed_matrix,
    privacy_epsilon,
    second_stage,
    successive_share,
)
from tests.check_values import check_values

ENTRIES = check_values("risk")
SHARES = np.array([3, 2, 1]) / 6


def test_SWAP_1_random_swapping():
    given = ENTRIES["SWAP-1"]["expected"]
    for swaps in (1, 2):
        matrix = mixed_matrix(disjoint_share(swaps, 6), SHARES)
        np.testing.assert_allclose(matrix, given[f"disjoint_Q{swaps}"], rtol=1e-9)
        np.testing.assert_allclose(SHARES @ matrix, SHARES, atol=1e-15)
    matrix = mixed_matrix(successive_share(2, 6), SHARES)
    np.testing.assert_allclose(matrix, given["composed_Q2"], rtol=1e-9)
    np.testing.assert_allclose(SHARES @ matrix, SHARES, atol=1e-15)
    assert privacy_epsilon(matrix)[0] == pytest.approx(given["eps_composed_Q2"], rel=1e-9)
    with pytest.raises(ParameterError, match="not enough records"):
        disjoint_share(4, 6)


def test_PRAM_1_stages_and_epsilon():
    given, inputs = ENTRIES["PRAM-1"]["expected"], ENTRIES["PRAM-1"]["input"]
    matrix, v = np.array(inputs["P"]), np.array(inputs["v"])
    np.testing.assert_allclose(v @ matrix, given["vP"], rtol=1e-9)
    np.testing.assert_allclose(second_stage(matrix, v), given["Q"], rtol=1e-9)
    both = invariant(matrix, v)
    np.testing.assert_allclose(both, given["R"], rtol=1e-9)
    np.testing.assert_allclose(v @ both, v, atol=1e-12)
    np.testing.assert_allclose(0.5 * both + 0.5 * np.eye(3), given["Rstar_half"], rtol=1e-9)
    epsilon, by_category = privacy_epsilon(matrix)
    assert epsilon == pytest.approx(given["epsilon"], rel=1e-9)
    np.testing.assert_allclose(by_category, given["epsilon_by_released_category"], rtol=1e-9)


def test_two_stages_keep_the_shares_whatever_the_matrix():
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 40):
        for _ in range(20):
            matrix = rng.dirichlet(np.full(size, 0.3), size)
            v = rng.dirichlet(np.full(size, 0.5))
            assert np.abs(v @ invariant(matrix, v) - v).max() < 1e-12
    # a level that nobody gets has no posterior
    matrix = np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(second_stage(matrix, np.array([0.5, 0.5]))[1], [0, 1])
