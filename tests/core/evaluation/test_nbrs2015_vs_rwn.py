"""The laws of 2015 and 2022 side by side, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.evaluation.nbrs2015_vs_rwn import nbrs2015_vs_rwn


def test_values_by_hand_at_one_half(e1):
    cell, alone, count = nbrs2015_vs_rwn(e1, 0, epsilon=0.3, q=0.5, k=2)
    # NBRS-1: of the strict neighborhoods at 0.3 the last three are empty
    assert alone.missing.mean == 3  # three records of two cells, each lost with probability 1/2
    assert alone.missing.variance == pytest.approx(3)  # 3 x 4 x 1/4: both cells go together
    assert count.missing.variance == pytest.approx(1.8)  # 4 x 9/30 x (3 - 9/6), 3 of 6 drawn
    assert alone.records.mean == pytest.approx(count.records.mean)
    assert cell.missing.mean == 0
    # RWN-5: the row is intact with the product of its cells' chances to stay
    assert cell.changed[0] == pytest.approx(cell.stays["x"] * cell.stays["y"])
    assert alone.changed[0] >= cell.changed[0]
    holes = rwn.Microdata.from_frame(e1.frame.assign(y=[*e1.frame["y"][:5], np.nan]))
    alone = nbrs2015_vs_rwn(holes, 0, epsilon=0.3, q=0.5, k=2)[1]
    assert alone.missing.mean == 2.5  # what is missing cannot be lost


def test_a_fixed_count_that_is_no_whole_number_is_rounded_down(e1):
    count = nbrs2015_vs_rwn(e1, 3, epsilon=0.3, q=0.4, k=2)[2]
    assert count.lost == pytest.approx(2 / 6)  # floor(6 x 0.4) of 6
    assert (
        count.records.variance
        <= nbrs2015_vs_rwn(e1, 3, epsilon=0.3, q=0.4, k=2)[1].records.variance
    )


def test_variables_that_travel_together_change_together():
    rows = {"x": [0.0, 1, 2, 3], "y": [0.0, 1, 2, 3], "z": [0.0, 0, 0, 1]}
    data = rwn.Microdata.from_frame(pd.DataFrame(rows)).with_slices([("x", "y")])
    found = nbrs2015_vs_rwn(data, 0, epsilon=10.0, q=0.5, k=1)[0]
    # x and y change both or not at all; of three donors one has another z
    assert found.changed == pytest.approx([0.5 * 5 / 6, 0.5 / 6, 0.5 * 5 / 6, 0.5 / 6])
    p, r = 0.5, np.array([1, 1, 1, 3]) / 6
    assert found.cells.mean == pytest.approx(4 * 2 * p + r.sum())
    assert found.cells.variance == pytest.approx(4 * 4 * p * (1 - p) + (r * (1 - r)).sum())


def test_a_record_that_is_not_there_is_refused(e1):
    with pytest.raises(ParameterError, match="whole number from 0 to 5"):
        nbrs2015_vs_rwn(e1, 6, epsilon=1.0, q=1.0, k=2)
