"""Cut a file into parts that few rows cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

LEAST = 0.3  # share of a part on the smaller side of a cut
_SHARES = np.array([0.3, 0.4, 0.5, 0.6, 0.7])  # where the values of a variable are cut
_LEVELS = 12  # distinct values up to which one of them may be set apart from all others

Codes = NDArray[np.int64]
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def parts_of(
    before: Codes, after: Codes, tried: NDArray[np.int64], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """Halve a file repeatedly where the fewest rows cross; return part numbers, (len(sizes), n)."""
    # a cut is a value of one variable, or one level against the rest, with a share of at least
    # .3 of the part on either side. Parts of one value may exceed `sizes`, which descend and nest.
    numbers = np.zeros((len(sizes), len(before)), dtype=np.int64)
    counts = [0] * len(sizes)
    waiting = [(np.arange(len(before)), tried, 0)]
    while waiting:
        people, rows, level = waiting.pop()
        cut = None
        if len(people) > sizes[-1]:
            cut = _best_cut(before, after, people, rows)
        while level < len(sizes) and (cut is None or len(people) <= sizes[level]):
            numbers[level, people] = counts[level]
            counts[level] += 1
            level += 1
        if cut is not None and level < len(sizes):
            of_people, of_rows = cut
            waiting.append((people[of_people], rows[of_rows], level))
            waiting.append((people[~of_people], rows[~of_rows], level))
    return numbers


def _best_cut(
    before: Codes, after: Codes, people: NDArray[np.int64], rows: NDArray[np.int64]
) -> Sides | None:
    """Return the sides of these people, and of the people of these rows; None without a cut."""
    best, chosen = np.inf, None
    for place in range(before.shape[1]):
        own, released = before[rows, place], after[rows, place]
        for value, single in _cuts(own):
            of_own = own == value if single else own < value
            share = np.count_nonzero(of_own) / len(of_own)
            if not LEAST <= share <= 1 - LEAST:
                continue
            of_released = released == value if single else released < value
            crossing = np.count_nonzero(of_own != of_released) / len(of_own)
            if crossing / min(share, 1 - share) < best:
                best = crossing / min(share, 1 - share)
                values = before[people, place]
                chosen = (values == value if single else values < value), of_own
    return chosen


def _cuts(own: Codes) -> Iterator[tuple[int, bool]]:
    """Yield the values to cut at, and whether one level is set apart."""
    ordered = np.sort(own)
    if not len(ordered) or ordered[0] == ordered[-1]:
        return
    middle = ordered[(_SHARES * len(ordered)).astype(np.int64)]
    for value in np.unique(np.concatenate([middle, middle + 1])):
        yield int(value), False
    distinct = np.unique(ordered)
    if 2 < len(distinct) <= _LEVELS:
        for value in distinct:
            yield int(value), True
