"""Leaves hold every record once, and about as many as another."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.datasets.spatial_parts import leaf_numbers


def test_leaves_are_about_as_large_and_lie_across_the_widest_direction() -> None:
    numbers = np.random.default_rng(1)
    turned = np.linalg.qr(np.eye(3) + 0.3)[0]
    points = numbers.normal(size=(4000, 3)) * [3.0, 1.0, 0.5] @ turned
    leaf = leaf_numbers(points[::4], points, 13)
    assert 150 < np.bincount(leaf, minlength=13).min() < np.bincount(leaf).max() < 500
    widest = points @ turned.T[:, 0]
    assert abs(np.corrcoef(leaf, widest)[0, 1]) > 0.95
    for column in (1, 2):
        assert abs(np.corrcoef(leaf, points @ turned.T[:, column])[0, 1]) < 0.1


def test_identical_records_share_a_leaf() -> None:
    points = np.repeat([[0.0], [1.0]], [900, 100], axis=0)
    leaf = leaf_numbers(points, points, 8)
    assert len(np.unique(leaf[:900])) == len(np.unique(leaf[900:])) == 1


@pytest.mark.parametrize("points", [np.zeros((50, 2)), np.zeros((50, 0))])
def test_records_that_nothing_tells_apart_are_one_leaf(points: np.ndarray) -> None:
    assert len(np.unique(leaf_numbers(points, points, 8))) == 1
