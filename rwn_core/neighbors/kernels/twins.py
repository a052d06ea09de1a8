"""Records with the same donors and the same values, which follow each other in a list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_inline


@jit_inline
def is_twin(
    lists: Any,
    index: int,
    codes: NDArray[np.int32],
    values: NDArray[np.int64],
    some: NDArray[np.int64],
) -> bool:
    """Whether a record has the list and the values of the one before, and so the same chances.

    Parameters
    ----------
    lists : Lists
    index : int
        The record's in `lists`.
    codes : ndarray of int32, shape (u, n)
    values : ndarray of int64, shape (u,)
        Codes from here on are no value: all count alike.
    some : ndarray of int64
        Which variables matter.
    """
    if index == 0 or lists.begin[index] != lists.begin[index - 1]:
        return False
    if lists.sizes[index] != lists.sizes[index - 1]:
        return False
    before, record = lists.records[index - 1], lists.records[index]
    for unit in some:
        one, two = codes[unit, before], codes[unit, record]
        if one != two and min(one, two) < values[unit]:
            return False
    return True
