"""Sets of variables that an intruder may know, the most informative first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.sizes import LISTED_PAIRS

VARIABLES = 3  # of a searched set
WORK = 2_000_000  # records of all searched sets together
SMALLEST = 4  # variables of a greedy set, and up to
LARGEST = 8
ENOUGH = 0.99  # share of sample uniques at which a greedy set stops growing

Names = tuple[str, ...]
Positions = tuple[int, ...]


class KnownSets(NamedTuple):
    """Sets of variables by which people are looked up.

    Attributes
    ----------
    sets : tuple of tuple of str
    stated : int
        Number of stated sets, which come first.
    larger : int
        Number of slices, and sets of more than three variables, which come next.
    possible, searched : int
        Number of sets of three, and of those that were looked at.
    """

    sets: tuple[Names, ...]
    stated: int
    larger: int
    possible: int
    searched: int


def travel_mates(names: Sequence[str], units: Sequence[Names], secrets: Names) -> tuple[Names, ...]:
    """Return the known variables of each slice with a confidential one, and all known variables."""
    mates = [
        tuple(name for name in names if name in unit) for unit in units if set(unit) & {*secrets}
    ]
    return tuple(dict.fromkeys(each for each in (*mates, tuple(names)) if each))


def known_sets(
    stated: Sequence[Names],
    names: Sequence[str],
    units: Sequence[Names],
    secrets: Names,
    n: int,
    larger: Sequence[Names] = (),
) -> KnownSets:
    """Return stated sets, larger ones, and sets of three as far as the work allows."""
    # names with most distinct values come first; work, not time, is limited: always the same sets
    size = min(VARIABLES, len(names))
    known = {frozenset(each): tuple(dict.fromkeys(each)) for each in reversed(stated)}
    first = [known[each] for each in dict.fromkeys(map(frozenset, stated))]
    wide = {frozenset(each): each for each in reversed(larger) if frozenset(each) not in known}
    known |= wide
    shared = sorted(units, key=lambda unit: not set(unit) & set(secrets))
    inside = (tuple(name for name in names if name in unit) for unit in shared)
    most = max(1, WORK // max(n, 1))
    searched = list(_combinations([*inside, tuple(names)], size, most)) if size else []
    others = [each for each in searched if frozenset(each) not in known]
    possible = comb(len(names), size) if size else 0
    sets = (*first, *reversed(wide.values()), *others)
    return KnownSets(sets, len(first), len(wide), possible, len(searched))


def _combinations(groups: Sequence[Names], size: int, most: int) -> Iterator[Names]:
    """Yield the first sets of all groups, each once, in the order of the names."""
    every = chain.from_iterable(combinations(group, size) for group in groups)
    # within its unit and among all, no set comes more than twice
    return islice(dict.fromkeys(islice(every, 2 * most)), most)


def isolating_sets(codes: NDArray[np.int64], groups: Sequence[Positions]) -> list[Positions]:
    """Return the greedy sets with most sample uniques, of each group of variables."""
    # codes (n, v) count from 0, -1 where missing; no set follows one with nearly all people unique
    found: list[Positions] = []
    left = max(1, LISTED_PAIRS // max(len(codes), 1))
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
