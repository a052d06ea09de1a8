"""Pairs become the sparse array that scipy makes of them, whatever the order of the records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rwn_core.laws.value_counts_kernel import pairs_as_columns


@pytest.mark.parametrize(("rows", "columns", "share"), [(40, 30, 0.2), (7, 90, 0.5), (50, 3, 0.01)])
def test_they_are_those_of_scipy(rows: int, columns: int, share: float) -> None:
    rng = np.random.default_rng(rows)
    row, column = np.nonzero(rng.random((rows, columns)) < share)
    value = np.where(rng.random(len(row)) < 0.1, 0.0, rng.random(len(row)))
    expected = sparse.csc_array((value, (row, column)), shape=(rows, columns))
    expected.eliminate_zeros()
    order = rng.permutation(rows)  # of the records, each of which keeps its pairs together
    place = np.argsort(np.argsort(order)[row], kind="stable")
    position = np.empty(rows, np.int32)
    position[order] = np.arange(rows)
    made = pairs_as_columns(
        position[row[place]],
        column[place].astype(np.int32),
        value[place],
        order.astype(np.int32),
        (rows, columns),
    )
    for mine, its in ((made.indptr, expected.indptr), (made.indices, expected.indices)):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal(made.data, expected.data)
    assert made.has_sorted_indices


def test_no_pairs_make_an_empty_array() -> None:
    none = np.empty(0, np.int32)
    made = pairs_as_columns(none, none, np.empty(0), np.arange(4, dtype=np.int32), (4, 5))
    assert made.shape == (4, 5)
    assert made.nnz == 0
