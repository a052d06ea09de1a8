"""Donors that are drawn by layers come as often as their weights say, in any order of weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from rwn_core.neighbors.draw_kernel import draw_rows
from rwn_core.randomness import SecretKey

N = 20_000
LISTS = {
    "nearest weigh most": [0.5, 0.3, 0.15, 0.05],
    "farthest weighs most": [0.1, 0.2, 0.3, 0.4],
    "up and down": [0.1, 0.4, 0.05, 0.45],
    "equal": [0.25, 0.25, 0.25, 0.25],
}


def donors(weights: list[float], q: float) -> NDArray[np.int64]:
    """One list of members, number 100,000 and on, for all records; shape (N,)."""
    size, found = len(weights), np.empty((N, 1), np.int64)
    keys = np.ascontiguousarray(SecretKey.from_seed(4).words.reshape(1, 8))
    draw_rows(
        keys,
        np.arange(N),
        np.array([7]),
        np.array([q]),
        np.zeros(N, np.int64),
        np.array([size]),
        np.array([0, size]),
        np.arange(100_000, 100_000 + size, dtype=np.int32),
        np.array(weights),
        found,
        0,
        N,
    )
    return found[:, 0]


@pytest.mark.parametrize("order", LISTS)
def test_each_donor_has_its_share(order: str) -> None:
    weights = LISTS[order]
    counts = np.bincount(donors(weights, 1.0) - 100_000, minlength=len(weights))
    assert chisquare(counts, N * np.array(weights)).pvalue > 1e-4


def test_a_cell_that_is_not_modified_has_itself() -> None:
    found = donors([0.7, 0.3], 0.25)
    own = found < 100_000
    assert (found[own] == np.flatnonzero(own)).all()
    assert abs(own.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / N)
