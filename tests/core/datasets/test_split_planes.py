"""Leaves hold every record once, and about as many as another."""

from __future__ import annotations

import numpy as np

from rwn_core.datasets.spatial_parts import build_planes, leaf_numbers, principal_axes, turned


def test_leaves_are_about_as_large_and_lie_across_the_widest_axis() -> None:
    numbers = np.random.default_rng(1)
    points = numbers.normal(size=(4000, 3)) * [3.0, 1.0, 0.5] @ np.linalg.qr(np.eye(3) + 0.3)[0]
    axes = principal_axes(points)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    root, count = build_planes(turned(points[::4], axes), 13)
    leaf = leaf_numbers(root, points, axes)
    assert count == 13
    assert 150 < np.bincount(leaf, minlength=13).min() < np.bincount(leaf).max() < 500
    below = turned(points, axes)[:, root.column] <= root.value
    assert not np.intersect1d(leaf[below], leaf[~below]).size
    assert root.column == 2, "the last axis is the widest"


def test_identical_records_share_a_leaf() -> None:
    points = np.repeat([[0.0], [1.0]], [900, 100], axis=0)
    root, count = build_planes(points, 8)
    leaf = leaf_numbers(root, points, np.eye(1))
    assert count == 2
    assert len(np.unique(leaf[:900])) == len(np.unique(leaf[900:])) == 1
    alike = build_planes(np.zeros((50, 2)), 8)
    assert alike == (0, 1)
