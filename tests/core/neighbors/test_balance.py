"""Balanced weights: check values, projections as a slow twin, tables that are hard to balance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, weigh
from rwn_core.neighbors.table import complete_table
from tests.core.neighbors.test_soft_kernel import ENTRIES, SIX, distances, matrix
from tests.oracles.soft_weights import balanced_by_projections, log_kernel

BALANCED = Kernel(shape="gaussian", bandwidth_k=2, cap=1.0, balance=1.0)


@pytest.mark.parametrize(("entry", "cap"), [("BAL-1", 1.0), ("BAL-2", 0.4)])
def test_BAL_1_and_2_six_records(entry: str, cap: float) -> None:
    weights = matrix(SIX, replace(BALANCED, cap=cap))
    np.testing.assert_allclose(weights, ENTRIES[entry]["expected"]["weights"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(weights, weights.T, atol=1e-7)  # the kernel is symmetric


def test_BAL_4_two_far_twins_exchange_at_most_the_cap() -> None:
    lattice = [[column, row] for column in range(5) for row in range(4)]
    points = np.array([*lattice, [500, 500], [501, 500]], dtype=np.float64)
    kernel = Kernel(shape="gaussian", balance=1.0)
    weights = matrix(points, kernel)
    assert weights[20, 21] == pytest.approx(0.1, abs=1e-12)
    assert abs(weights.sum(axis=0) - 1).max() <= 1e-6
    assert (weights[20] > 0.1 - 1e-9).sum() == 5
    assert (weights[0] ** 2).sum() == pytest.approx(0.06076799, abs=1e-7)
    assert matrix(points, replace(kernel, cap=1.0))[20, 21] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("cap", [1.0, 0.3])
def test_projections_find_the_same_matrix(cap: float) -> None:
    points = np.random.default_rng(4).normal(size=(9, 2))
    logs = np.array(log_kernel(distances(points), "gaussian", 1.0, nearest=3))
    expected = balanced_by_projections(np.exp(logs), cap)
    kernel = Kernel(shape="gaussian", bandwidth_k=3, cap=cap, balance=1.0)
    np.testing.assert_allclose(matrix(points, kernel), expected, rtol=0, atol=1e-6)


def test_two_vectors_make_any_row() -> None:
    """A worker that holds the kernel and both vectors has all weights."""
    points = np.random.default_rng(5).lognormal(size=(60, 3))
    kernel = Kernel(shape="gaussian", balance=1.0)
    found = weigh(kernel, scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k)))
    logs = np.array(log_kernel(distances(points), "gaussian", 1.0, nearest=10))
    made = np.minimum(0.1, np.exp(logs + found.row[:, None] + found.column))
    np.testing.assert_allclose(made, matrix(points, kernel), rtol=0, atol=1e-8)


def _loads(points: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    return matrix(points, Kernel(shape="gaussian", balance=share)).sum(axis=0)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_share_of_balance_moves_loads_by_that_share(share: float) -> None:
    points = np.random.default_rng(6).lognormal(size=(80, 2))
    expected = (1 - share) * _loads(points, 0.0) + share
    np.testing.assert_allclose(_loads(points, share), expected, rtol=0, atol=1e-6)


def test_unbalanced_loads_are_far_from_one() -> None:
    """The planted fault: without balance the other tests of this file would fail."""
    points = np.random.default_rng(6).lognormal(size=(80, 2))
    assert abs(_loads(points, 0.0) - 1).max() > 0.3
