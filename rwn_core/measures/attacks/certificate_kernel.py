"""Smallest ratios of two records' likelihoods over all values or rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry


@jit_entry
def add_least_log_ratios(
    logs: NDArray[np.float64],
    near: NDArray[np.int32],
    least: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Add the smallest log ratio of each record's likelihoods to those of records near it."""
    # logs (n, V) are finite: of each value, or released row, for each record. To least (n, m) of
    # rows `first` to `last` - 1, min_v logs[i, v] - logs[near[i, t], v] is added.
    values = logs.shape[1]
    for record in range(first, last):
        own = logs[record]
        for place in range(near.shape[1]):
            other = logs[near[record, place]]
            smallest = np.inf
            for value in range(values):
                smallest = min(smallest, own[value] - other[value])
            least[record, place] += smallest
