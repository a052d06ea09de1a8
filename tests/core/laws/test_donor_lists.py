"""Lists of possible donors: what their weights sum to, with one neighbor or none."""

from __future__ import annotations

import numpy as np

from rwn_core.laws.donor_lists import DonorTables
from rwn_core.neighbors import find_neighborhoods


def test_one_neighbor_is_the_donor_for_sure_and_nobody_divides_by_none() -> None:
    points = np.array([[0.0], [1.0], [3.0], [9.0], [9.0]])
    found = find_neighborhoods(points, epsilon=2.5)
    (lists,) = DonorTables(found).blocks()
    assert lists.sizes.tolist() == [1, 2, 1, 1, 1]
    assert lists.totals.tolist() == [1, 2, 1, 1, 1]
    (lists,) = DonorTables(find_neighborhoods(points, epsilon=1.5)).blocks()
    assert lists.sizes.tolist() == [1, 1, 0, 1, 1]
    assert lists.totals.tolist() == [1, 1, 1, 1, 1]
