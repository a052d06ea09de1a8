"""The neighborhood's lesson, held against distances counted by loops."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import neighborhood as lesson


def distances(weight: float) -> tuple[np.ndarray, np.ndarray]:
    """All distances, the category as two dummies in standard deviations; and the groups."""
    frame = lesson.table(weight).frame
    second = (frame["group"] == "B").to_numpy()
    parts = [frame["x"], frame["y"]]
    columns = [(np.asarray(c) - np.mean(c)) / np.std(c, ddof=1) for c in parts]
    columns += [weight * d / np.std(d, ddof=1) for d in (second.astype(float), 1.0 - second)]
    points = np.column_stack(columns)
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    return apart, second


@pytest.mark.parametrize(("epsilon", "k", "weight"), [(0.5, 5, 0.1), (0.0, 20, 0.0), (1.2, 3, 1.0)])
def test_members_shares_and_the_two_radii(epsilon: float, k: int, weight: float) -> None:
    prepared = rwn.RWN(epsilon=epsilon, k=k).prepare(lesson.table(weight))
    apart, second = distances(weight)
    kth = np.sort(apart, axis=1)[:, k - 1]
    inside = apart <= np.maximum(kth, epsilon)[:, None] * (1 + 1e-9)
    crossing = (inside * (second[:, None] != second)).sum(axis=1) / inside.sum(axis=1)
    for record in lesson.RECORDS.values():
        found = lesson.neighborhood(prepared, record=record)
        np.testing.assert_array_equal(np.sort(found.members), np.flatnonzero(inside[record]))
        assert found.kth == pytest.approx(kth[record])
    assert found.by_k == pytest.approx((kth > epsilon).mean())
    assert found.mixed == pytest.approx((crossing > 0).mean())
    assert found.changed == pytest.approx(crossing.mean(), abs=1e-12)
    spread = np.std(second, ddof=1)
    assert found.apart == pytest.approx(weight * np.sqrt(2) / spread)


def test_the_outlier_has_k_donors_and_a_k_neighborhood_seldom_crosses_a_category() -> None:
    usual = rwn.RWN(epsilon=0.5, k=5).prepare(lesson.table(1.0))
    found = lesson.neighborhood(usual, record=lesson.OUTLIER)
    assert len(found.members) == 5
    assert found.kth > 2
    assert found.mixed == 0.0
    ignored = rwn.RWN(epsilon=0.5, k=5).prepare(lesson.table(0.0))
    assert lesson.neighborhood(ignored, record=0).mixed > 0.2
