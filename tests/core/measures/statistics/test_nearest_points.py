"""Nearest points by bounds from a matrix product, compared with all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.measures.statistics import nearest_points
from rwn_core.measures.statistics.nearest_points import (
    LONGEST,
    PointIndex,
    distinct_points,
    linkage_scores,
    nearest_distances,
)

rng = np.random.default_rng(5)
TABLES = {
    "narrow": rng.normal(size=(300, 2)),
    "spread": rng.normal(size=(300, 14)),
    "tied": rng.integers(0, 2, size=(300, 13)).astype(float),
    "equal": np.zeros((40, 12)),
    # single precision cannot tell these apart, nor say who is nearest
    "far away": 1e6 + 1e-4 * rng.normal(size=(200, 12)),
    "of all sizes": rng.normal(size=(300, 12)) * 10.0 ** rng.integers(-4, 5, size=(300, 1)),
}


def pairs(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances, pair by pair."""
    return np.array([[sum((o - p) ** 2) for p in points] for o in others])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_the_nearest_are_those_of_all_pairs(table: str, shared: bool, monkeypatch) -> None:
    """Whether one thread looks at all of them, or several share them."""
    monkeypatch.setattr(nearest_points, "PAIRS", 1000 if shared else 10**9)
    points = TABLES[table]
    own = np.arange(30)
    others = np.where(rng.random((30, points.shape[1])) < 0.5, points[::-1][:30], points[own])
    every = pairs(points, others)
    expected = np.sqrt(np.sort(every, axis=1)[:, :2])
    assert np.allclose(nearest_distances(points, others, 2), expected, rtol=1e-9, atol=1e-300)
    distinct = distinct_points(points)
    edge = every.min(axis=1) * (1 + 1e-9)
    right = every[own, own] <= edge
    expected = right / (every <= edge[:, None]).sum(axis=1)
    assert np.allclose(linkage_scores(distinct, others, points[own]), expected)


def test_beyond_single_precision_all_pairs_are_computed() -> None:
    points = TABLES["spread"].copy()
    points[0] = 10 * LONGEST
    assert np.allclose(nearest_distances(points, points, 1), 0)
    found = list(PointIndex(TABLES["spread"]).candidates(points * LONGEST, 1))
    assert {row for rows, _, _ in found for row in rows} == set(range(300))
    near = distinct_points(TABLES["spread"])
    # from so far away all are as near
    scores = linkage_scores(near, points[:2], TABLES["spread"][:2])
    assert scores.tolist() == [1 / 300, 1.0]
