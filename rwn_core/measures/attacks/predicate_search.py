"""Search for predicates that exactly one record meets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.measures.attacks.predicate import Condition, Predicate, is_number

MOST = 60  # predicates
MOST_LEVELS = 50  # of a category that takes part
GRID = np.linspace(0.1, 0.9, 17)  # quantiles at which two numbers are cut together


def single_record_predicates(
    original: Microdata, keys: Sequence[str]
) -> list[tuple[Predicate, int]]:
    """Return predicates on the keys that one original record meets, with it; the simplest first."""
    cuts = [name for name in keys if is_number(original, name)]
    groups = [
        name for name in keys if name not in cuts and len(original.codes(name)[1]) <= MOST_LEVELS
    ]
    result: dict[tuple[int, frozenset[str]], Predicate] = {}
    for predicate, record in islice(_candidates(original, groups, cuts), 20 * MOST):
        names = frozenset(condition.name for condition in predicate.conditions)
        simpler = any(other == record and known < names for other, known in result)
        if not simpler:
            result.setdefault((record, names), predicate)
        if len(result) >= MOST:
            break
    return [(predicate, record) for (record, _), predicate in result.items()]


def _candidates(
    original: Microdata, groups: list[str], cuts: list[str]
) -> Iterator[tuple[Predicate, int]]:
    for size in (1, 2, 3):
        for names in combinations(groups, size):
            yield from _cells(original, names)
        for names in combinations(groups, size - 1):
            for cut in cuts:
                yield from _tails(original, names, cut)
        if size == 2:
            for one, two in combinations(cuts, 2):
                yield from _corners(original, one, two)


def _conditions(original: Microdata, names: Sequence[str], record: int) -> tuple[Condition, ...]:
    conditions = []
    for name in names:
        codes, levels = original.codes(name)
        conditions.append(Condition(name=name, sign="is", value=levels[codes[record]]))
    return tuple(conditions)


def _partition(original: Microdata, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the cell of each record, -1 where a value is missing."""
    if not names:
        return np.zeros(original.n, dtype=np.int64)
    cells = np.column_stack([original.codes(name)[0] for name in names])
    _, numbered = np.unique(cells, axis=0, return_inverse=True)
    return np.where((cells < 0).any(axis=1), -1, numbered.ravel())


def _cells(original: Microdata, names: Sequence[str]) -> Iterator[tuple[Predicate, int]]:
    cell = _partition(original, names)
    counts = np.bincount(cell[cell >= 0], minlength=1)
    for record in np.flatnonzero((cell >= 0) & (counts[cell] == 1)).tolist():
        yield Predicate(conditions=_conditions(original, names, record)), record


def _tails(original: Microdata, names: Sequence[str], cut: str) -> Iterator[tuple[Predicate, int]]:
    """Yield the largest and the smallest value of each cell if only one record has it."""
    cell = _partition(original, names)
    values = original.values(cut)
    usable = np.flatnonzero((cell >= 0) & ~np.isnan(values))
    for upward in (True, False):
        key = values[usable] if upward else -values[usable]
        order = usable[np.lexsort((-key, cell[usable]))]
        starts = np.flatnonzero(np.diff(cell[order], prepend=-2))
        ends = np.append(starts[1:], len(order))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end - start < 2 or values[order[start]] == values[order[start + 1]]:
                continue
            record = int(order[start])
            yield _tail(original, names, cut, record, int(order[start + 1]), upward), record


def _tail(
    original: Microdata, names: Sequence[str], cut: str, record: int, second: int, upward: bool
) -> Predicate:
    values = original.values(cut)
    limit = simplest_between(float(values[second]), float(values[record]))
    condition = Condition(name=cut, sign="at least" if upward else "at most", value=limit)
    return Predicate(conditions=(*_conditions(original, names, record), condition))


def simplest_between(one: float, other: float) -> float:
    """Return a number of few digits strictly between two; the other one if there is none.

    >>> simplest_between(262.75, 363.15), simplest_between(80, 81), simplest_between(0.12, 0.1)
    (300.0, 80.5, 0.11)
    """
    low, high = min(one, other), max(one, other)
    width = high - low
    if not np.isfinite(width) or width <= 0:
        return other
    for digits in range(-int(np.floor(np.log10(width))) - 1, 20):
        for step in (5, 1, 2):
            result = _multiple_above(low, step, digits)
            if low < result < high:
                return result
    return other


def _multiple_above(low: float, step: int, digits: int) -> float:
    """Return the smallest multiple of step * 10^-digits above a number."""
    size = step * 10.0**-digits
    return float(f"{(np.floor(low / size) + 1) * size:.15g}")


def _corners(original: Microdata, one: str, two: str) -> Iterator[tuple[Predicate, int]]:
    """Yield pairs of cuts that one record in the middle of both variables meets."""
    x, y = original.values(one), original.values(two)
    usable = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if usable.size < 4:
        return
    grids = [np.unique(np.quantile(v[usable], GRID)) for v in (x, y)]
    for up_x, up_y in product((True, False), repeat=2):
        best: tuple[float, Predicate, int] | None = None
        side_x = [(x >= a) if up_x else (x <= a) for a in grids[0]]
        side_y = [(y >= b) if up_y else (y <= b) for b in grids[1]]
        counts = np.array(side_x, dtype=np.float64) @ np.array(side_y, dtype=np.float64).T
        for i, j in np.argwhere(counts == 1).tolist():
            spread = float(min(side_x[i].mean(), side_y[j].mean()))
            if best is None or spread > best[0]:
                record = int(np.flatnonzero(side_x[i] & side_y[j])[0])
                best = (spread, _corner(one, two, (grids[0][i], up_x), (grids[1][j], up_y)), record)
        if best is not None:
            yield best[1], best[2]


def _corner(one: str, two: str, first: tuple[float, bool], second: tuple[float, bool]) -> Predicate:
    return Predicate(
        conditions=tuple(
            Condition(name=name, sign="at least" if upward else "at most", value=float(limit))
            for name, (limit, upward) in ((one, first), (two, second))
        )
    )
