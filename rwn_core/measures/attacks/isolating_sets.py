"""Greedy sets of four to eight variables with most sample uniques."""

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
    """Return the greedy sets with most sample uniques, of each group of variables."""
    # codes (n, v) count from 0, -1 where missing; no set follows one with nearly all people unique
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
    """Return combination numbers with one more variable, and (sample uniques, combinations)."""
    gone = missing | (column < 0)
    joint = np.where(gone, -1, own * (int(column.max(initial=0)) + 1) + column)
    values, number, counts = np.unique(joint, return_inverse=True, return_counts=True)
    alone = int(((counts == 1) & (values >= 0)).sum())
    return number.ravel().astype(np.int64), gone, (alone, len(values))
