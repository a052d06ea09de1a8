"""Leaves hold every record once, and no ball that reaches one is forgotten."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors.points import CodedPoints
from rwn_core.scale.planes import (
    Boxes,
    leaf_numbers,
    leaves_below,
    planes_of,
    principal_axes,
    turned,
)


def boxes_of(values: np.ndarray, leaf: np.ndarray, count: int) -> Boxes:
    low, high = (
        np.full((count, values.shape[1]), np.inf),
        np.full((count, values.shape[1]), -np.inf),
    )
    for each in np.unique(leaf):
        low[each], high[each] = values[leaf == each].min(axis=0), values[leaf == each].max(axis=0)
    return Boxes(counts=np.bincount(leaf, minlength=count), low=low, high=high)


def test_leaves_are_about_as_large_and_reached_ones_are_all_found() -> None:
    numbers = np.random.default_rng(1)
    points = numbers.normal(size=(4000, 3)) * [3.0, 1.0, 0.5]
    root, count = planes_of(points[::4], 13)
    leaf = leaf_numbers(root, points)
    assert count == 13
    assert sorted(leaves_below(root)) == list(range(13))
    assert 150 < np.bincount(leaf).min() < np.bincount(leaf).max() < 500
    radius = numbers.uniform(0.0, 1.0, 200)
    some = points[:200]
    found = {
        (row, each)
        for each, rows in boxes_of(points, leaf, 13).reached(root, some, radius**2)
        for row in rows.tolist()
    }
    apart = np.sqrt(((some[:, None, :] - points) ** 2).sum(axis=2))
    needed = {(row, int(leaf[other])) for row, other in np.argwhere(apart <= radius[:, None])}
    assert needed <= found
    assert len(found) < 4 * len(needed), "not everybody is sent everywhere"


def test_identical_records_share_a_leaf() -> None:
    points = np.repeat([[0.0], [1.0]], [900, 100], axis=0)
    root, count = planes_of(points, 8)
    leaf = leaf_numbers(root, points)
    assert count == 2
    assert len(np.unique(leaf[:900])) == len(np.unique(leaf[900:])) == 1
    alike = planes_of(np.zeros((50, 2)), 8)
    assert alike == (0, 1)


def test_coded_levels_are_no_coordinates() -> None:
    values = np.column_stack([np.arange(100) % 60, np.zeros(100)]).astype(np.float64)
    points = CodedPoints(values=values, squares={0: np.ones(61)})
    root, count = planes_of(points, 4)
    assert (root, count) == (0, 1)
    reached = list(boxes_of(values, np.zeros(100, int), 1).reached(root, points, np.zeros(100)))
    assert [len(rows) for _, rows in reached] == [100]


def test_identical_records_reach_each_other_along_turned_axes() -> None:
    numbers = np.random.default_rng(2)
    some = numbers.normal(size=(300, 3)) @ numbers.normal(size=(3, 7)) * 1e3
    points = np.concatenate((some, some))
    axes = principal_axes(points)
    np.testing.assert_allclose(axes.T @ axes, np.eye(7), atol=1e-12)
    along = turned(points, axes)
    along[300:] += numbers.normal(size=(300, 7)) * 1e-13  # as another order of sums gives
    root, count = planes_of(along[:300], 8)
    leaf = leaf_numbers(root, along)
    reached = np.zeros((count, 300), dtype=bool)
    for each, rows in boxes_of(along, leaf, count).reached(root, along[:300], np.zeros(300)):
        reached[each, rows] = True
    assert reached[leaf[300:], np.arange(300)].all()
    assert reached.mean() < 0.3, "and hardly anything else"
