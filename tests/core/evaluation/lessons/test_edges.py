"""The lesson on edges and balance: its numbers by loops, and each of its sentences by releases."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import edges as lesson

HARD = rwn.RWN(epsilon=1.0, k=lesson.NEAREST)
SOFT = rwn.SoftRWN(kernel="gaussian", width=1.0)
BALANCED = rwn.SoftRWN(kernel="gaussian", width=1.0, balance=1.0)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("setting", [HARD, SOFT, BALANCED])
def test_numbers_by_loops_over_the_law(setting: rwn.RWN, together: bool) -> None:
    data = lesson.table(together=together)
    shares = setting.prepare(data).law.probabilities.toarray()
    n, columns = data.n, data.matrix(["x", "y"])
    found = lesson.edges(data, setting, record=7)
    np.testing.assert_allclose(found.weights, shares[7], rtol=0, atol=1e-15)
    loads = [sum(shares[i, l] for i in range(n)) for l in range(n)]  # noqa: E741
    np.testing.assert_allclose(found.loads, loads, rtol=0, atol=1e-12)
    missed, apart = np.ones(n), np.ones(n)
    for row in shares:
        missed *= 1 - row
        apart *= 1 - (row if together else row**2)
    assert found.paired == pytest.approx(1 - apart.mean())
    ends = [l for j in range(2) for place, l in enumerate(np.argsort(columns[:, j]))  # noqa: E741
            if place < 5 or place >= n - 5]  # fmt: skip
    assert found.extremes == pytest.approx(1 - missed[ends].mean())


def test_a_slope_across_slices_is_not_helped_and_one_within_a_slice_is() -> None:
    for width in (0.5, 1.0, 2.0):
        hard = rwn.RWN(epsilon=width, k=lesson.NEAREST)
        soft = rwn.SoftRWN(kernel="gaussian", width=width)
        full = rwn.SoftRWN(kernel="gaussian", width=width, balance=1.0)
        (truth, one), (_, two), (_, three) = (
            lesson.edges(lesson.table(), each).slope for each in (hard, soft, full)
        )
        assert three - two < 0.02 * truth
        assert abs(three - truth) > abs(one - truth)  # RWN as published shrinks both, x and y
        inside = lesson.edges(lesson.table(together=True), full).slope
        assert inside[1] == pytest.approx(inside[0], abs=0.005)
    # as many extremes are shown as the law says, the more the softer the edge
    shown = [lesson.edges(lesson.table(together=True), each) for each in (HARD, SOFT, BALANCED)]
    hard, soft, balanced = (each.extremes for each in shown)
    assert hard + 0.1 < soft < balanced - 0.05
    assert shown[0].paired + 0.005 < min(each.paired for each in shown[1:])
    possible = [each.prepare(lesson.table()).law.probabilities > 0 for each in (HARD, SOFT)]
    assert possible[0].sum() < possible[1].sum() == lesson.table().n * (lesson.table().n - 1)
