"""The even kernel: each member is as likely to be the donor."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.kernel import EVEN


def test_members_of_a_row_share_its_probability() -> None:
    points = np.array([[0.0], [1.0], [3.0], [3.5]])
    found = find_neighborhoods(points, k=1, epsilon=2.0)
    assert found.sizes.tolist() == [1, 2, 2, 1]
    assert found.weights(1).tolist() == [1.0, 1.0]
    assert found.total.tolist() == [1.0, 2.0, 2.0, 1.0]
    expected = [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]]
    assert found.probabilities().toarray().tolist() == expected


def test_rows_sum_to_one_unless_they_are_empty() -> None:
    inside = np.array([[True, True, False], [False, False, False]])
    shares = EVEN.mean(inside, inside.sum(axis=1, keepdims=True))
    assert shares.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    assert EVEN.totals(np.array([0, 3])).tolist() == [1.0, 3.0]
    assert EVEN.mean(6.0, np.array([0, 3])).tolist() == [6.0, 2.0]
