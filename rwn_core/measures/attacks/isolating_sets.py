"""Sets of four to eight variables that few people share, chosen greedily."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SMALLEST = 4  # variables of a set
LARGEST = 8  # the same, at most
ENOUGH = 0.99  # share of the people who are alone, with which nobody needs to know more
WORK = 20_000_000  # records of all trials together

Positions = tuple[int, ...]


def isolating_sets(codes: NDArray[np.int64], groups: Sequence[Positions]) -> list[Positions]:
    """Sets that leave most people alone, of each group of variables.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, v)
        The people's values as numbers from 0; -1 where missing.
    groups : sequence of tuple of int
        Variables to choose among, by position.

    Returns
    -------
    list of tuple of int
        Of `SMALLEST` to `LARGEST` variables: to each is added the one that leaves most people
        alone with their values. None where fewer variables leave nearly everybody alone.
    """
    found: list[Positions] = []
    left = max(1, WORK // max(len(codes), 1))
    for group in dict.fromkeys(groups):
        own = np.zeros(len(codes), np.int64)
        chosen: Positions = ()
        missing = np.zeros(len(codes), bool)
        rest = list(group)
        while rest and len(chosen) < LARGEST and left >= len(rest):
            left -= len(rest)
            tried = [_added(own, missing, codes[:, at]) for at in rest]
            best = max(range(len(rest)), key=lambda place: tried[place][2])
            own, missing, (alone, _) = tried[best]
            chosen = (*chosen, rest.pop(best))
            if len(chosen) >= SMALLEST:
                found.append(chosen)
            if alone >= ENOUGH * len(codes):
                break
    return list(dict.fromkeys(found))


def _added(
    own: NDArray[np.int64], missing: NDArray[np.bool_], column: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], tuple[int, int]]:
    """Numbers of combinations with one more variable, and how many people are alone with theirs.

    Of equally many the variable that makes most combinations counts.
    """
    gone = missing | (column < 0)
    joint = np.where(gone, -1, own * (int(column.max(initial=0)) + 1) + column)
    values, number, counts = np.unique(joint, return_inverse=True, return_counts=True)
    alone = int(((counts == 1) & (values >= 0)).sum())
    return number.ravel().astype(np.int64), gone, (alone, len(values))
