"""Random matchings of released rows and originals, as likely as all rows together make them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_no_refcount


@jit_no_refcount
def _place(starts: NDArray[np.int32], records: NDArray[np.int32], row: int, record: int) -> int:
    """Return the place of a row's pair with a record; -1 if it is none of its candidates."""
    low, end = starts[row], starts[row + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if records[middle] < record:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and records[low] == record else -1


@jit_no_refcount
def _drawn(starts: NDArray[np.int32], sums: NDArray[np.float64], row: int, uniform: float) -> int:
    """The place of a candidate, drawn with its share of the row's belief."""
    low, high = starts[row], starts[row + 1] - 1
    uniform *= sums[high]
    while low < high:
        middle = (low + high) // 2
        if sums[middle] <= uniform:
            low = middle + 1
        else:
            high = middle
    return int(low)


@jit_entry
def agreeing_matchings(
    starts: NDArray[np.int32],
    records: NDArray[np.int32],
    shares: NDArray[np.float64],
    sums: NDArray[np.float64],
    named: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
) -> float:
    """Return the mean number of rows with a named original that agrees with random matchings."""
    # Candidates ascend within a row; row r has r among them. `shares` are what a row believes of
    # each, with sum 1 within a row: their product over rows is proportional to the probability of a
    # matching; `sums` are they summed up. `named`, shape (n,), is the original named for each row.
    # rows (sweeps, n): a random row for each exchange that is tried; after each sweep a matching is
    # looked at. uniforms (2, sweeps, n): what draws the exchange's original, and what decides on
    # it. Two rows exchange their originals, one of which is drawn by the other's belief (Metropolis
    # and Hastings). It begins with the true matching.
    sweeps, n = rows.shape
    source, row_of, agreeing = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for row in range(n):
        source[row] = row_of[row] = row
    for sweep in range(sweeps):
        for step in range(n):
            one = rows[sweep, step]
            gained = _drawn(starts, sums, one, uniforms[0, sweep, step])
            other, given = row_of[records[gained]], source[one]
            taken = _place(starts, records, other, given)
            if other == one or taken < 0:
                continue
            kept = shares[_place(starts, records, one, given)]
            left = shares[_place(starts, records, other, records[gained])]
            new, old = shares[gained] * shares[taken], kept * left
            forth, back = shares[gained] + shares[taken], kept + left
            if new * back > uniforms[1, sweep, step] * old * forth:
                source[one], source[other] = records[gained], given
                row_of[records[gained]], row_of[given] = one, other
        for row in range(n):
            agreeing += source[row] == named[row]
    return float(agreeing / sweeps)
