"""Median or mode that the rows of a class show of a variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.attacks.red_team.files import Floats

Near = Callable[[Floats], Floats] | None


def shown(
    row: NDArray[np.int64], values: Floats, person: NDArray[np.int64], near: Near
) -> tuple[Floats, Floats]:
    """Return the value that matching rows show each person, and the share of them that agree."""
    # rows and persons of one class match; without `near`, values are levels. NaN and 0: no match
    count = int(max(row.max(initial=-1), person.max(initial=-1))) + 1
    known = ~np.isnan(values)
    row, values = row[known], values[known]
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    size = np.bincount(row, minlength=count)
    guess, agree = np.full(count, np.nan), np.zeros(count)
    if row.size and near is not None:
        start = np.concatenate(([0], np.cumsum(size)[:-1]))
        some = size > 0
        guess[some] = values[start[some] + (size[some] - 1) // 2]
        close = np.abs(values - guess[row]) <= near(guess)[row] + 1e-9 * np.abs(values)
        agree = np.bincount(row, close.astype(np.float64), minlength=count).astype(np.float64)
    elif row.size:
        first = np.concatenate(([True], (row[1:] != row[:-1]) | (values[1:] != values[:-1])))
        starts = np.flatnonzero(first)
        often = np.diff(np.append(starts, row.size))
        rank = np.lexsort((often, row[starts]))  # the last of each class is the most frequent
        guess[row[starts][rank]] = values[starts][rank]
        agree[row[starts][rank]] = often[rank]
    return guess[person], (agree / np.maximum(size, 1))[person]
