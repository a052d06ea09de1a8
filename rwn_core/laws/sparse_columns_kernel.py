"""Pairs of a record and a column as a sparse array, by one look at each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.parallel.jit import jit_entry


def pairs_as_columns(
    record: NDArray[np.int32],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    number: NDArray[np.int32],
    shape: tuple[int, int],
) -> sparse.csc_array:
    """The pairs as columns."""
    # No pair twice, and all of a record one after another; `number` is the row of each `record`.
    # Rows ascend within a column; zeros are not stored.
    values, rows, starts = _by_column(record, column, value, number, *shape)
    if len(values) <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # or scipy makes the rows as long, and reads them slower
    made = sparse.csc_array((values, rows, starts), shape=shape)
    made.has_canonical_format = True
    made.eliminate_zeros()
    return made


@jit_entry
def _by_column(
    record: NDArray[np.int32],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    number: NDArray[np.int32],
    rows: int,
    columns: int,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    begin, end = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    starts = np.zeros(columns + 1, np.int64)
    for at in range(len(record)):
        row = number[record[at]]
        if end[row] == 0:
            begin[row] = at
        end[row] = at + 1
        starts[column[at] + 1] += 1
    for each in range(columns):
        starts[each + 1] += starts[each]
    places, values, indices = starts[:-1].copy(), np.empty(len(record)), np.empty_like(record)
    for row in range(rows):
        for at in range(begin[row], end[row]):
            place = places[column[at]]
            values[place], indices[place] = value[at], row
            places[column[at]] += 1
    return values, indices, starts
