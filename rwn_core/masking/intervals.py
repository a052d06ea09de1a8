"""Intervals of numbers: of equal length with at least k values each, or of equal counts."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats, Integers

MOST_GROUPS = 10_000


def intervals(values: Floats, k: int) -> Integers:
    """Return each value's interval: as many of equal length as leave at least k values in each.

    Numbers from 0, shape (n,); intervals are closed below, the last also above. Missing values
    (NaN) have the number after the last.

    >>> intervals(np.array([24.0, 25, 27, 28, 30, 31, 33, 36]), 2).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    known = ~np.isnan(values)
    some = values[known]
    if not some.size or some.min() == some.max():
        return np.where(known, 0, 1)
    for count in range(max(min(len(some) // k, MOST_GROUPS), 1), 0, -1):
        number = equal_length(some, count)
        if np.bincount(number, minlength=count).min() >= k:
            break
    group = np.full(len(values), count, dtype=np.int64)
    group[known] = number
    return group


def equal_length(values: Floats, count: int) -> Integers:
    """The number of each value's interval, of `count` of equal length, shape (n,)."""
    low = values.min()
    width = values.max() - values.min()
    number = np.floor((values - low) / width * count)
    return np.asarray(np.minimum(number, count - 1), dtype=np.int64)


def group_means(values: Floats, group: Integers) -> Floats:
    """The mean of each known value's group, shape (n,); missing values stay missing."""
    known = ~np.isnan(values)
    shown = values.copy()
    sums, counts = np.bincount(group[known], values[known]), np.bincount(group[known])
    shown[known] = (sums / np.maximum(counts, 1))[group[known]]
    return shown


def equal_counts(values: Floats, count: int) -> Integers:
    """Return each value's interval: `count` of about as many values; equal values stay together.

    Numbers from 0, shape (n,); missing values (NaN) have the number after the last. There are fewer
    intervals where a value fills more than one by itself.

    >>> equal_counts(np.array([1.0, 2.0, 2.0, 3.0, 50.0, 900.0]), 3).tolist()
    [0, 1, 1, 1, 2, 2]
    """
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    middle = rankdata(values[known]) - 0.5  # of the ranks that equal values share
    _, ascending = np.unique(np.floor(middle / max(len(middle), 1) * count), return_inverse=True)
    group = np.full(len(values), int(ascending.max(initial=-1)) + 1, dtype=np.int64)
    group[known] = ascending
    return group
