"""Exact posteriors of a whole file: all assignments of rows to records, one by one."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray


@cache
def _assignments(n: int) -> NDArray[np.int64]:
    return np.array(list(permutations(range(n))))


def whole_file_beliefs(likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(each record is the source of each row | all rows), from a square of likelihoods."""
    n = len(likelihood)
    orders = _assignments(n)
    weights = likelihood[np.arange(n), orders].prod(axis=1)
    beliefs = np.zeros((n, n))
    for row in range(n):
        beliefs[row] = np.bincount(orders[:, row], weights=weights, minlength=n)
    return beliefs / weights.sum()
