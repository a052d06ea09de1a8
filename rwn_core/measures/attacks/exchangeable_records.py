"""How many links of a one-to-one assignment are right, where equal rows could change places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def canonical_order(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an order of records that depends on their values only, shape (n,)."""
    return np.lexsort(cells.T[::-1])


def assigned(
    cost: NDArray[np.float64], originals: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the original of each row in the cheapest assignment, independent of record order."""
    # costs are rounded, so that equal costs stay equal
    from scipy.optimize import linear_sum_assignment

    ordered = np.round(cost[np.ix_(originals, rows)], 9)
    one, two = linear_sum_assignment(ordered)
    linked = np.empty(len(rows), dtype=np.int64)
    linked[rows[two]] = originals[one]
    return linked


def in_classes(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the canonical order of records, and each one's class of equal cells."""
    order = canonical_order(cells)
    ordered = cells[order]
    numbers = np.empty(len(cells), dtype=np.int64)
    numbers[order] = np.cumsum(np.append(False, np.any(ordered[1:] != ordered[:-1], axis=1)))
    return order, numbers


def expected_right(
    linked: NDArray[np.int64],
    person: NDArray[np.int64],
    row: NDArray[np.int64],
    leaves: NDArray[np.bool_] | None = None,
) -> float:
    """Return the expected number of correct links if equal rows and originals are exchanged."""
    sizes = np.bincount(person)
    width = int(person.max()) + 1
    given_person = person[linked]
    if leaves is not None:
        row, person, given_person = row[leaves], person[leaves], given_person[leaves]
    given, so_often = np.unique(row * width + given_person, return_counts=True)
    true, how_often = np.unique(row * width + person, return_counts=True)
    both, one, other = np.intersect1d(given, true, assume_unique=True, return_indices=True)
    equal_rows = np.bincount(row)[both // width]
    chances = so_often[one] * how_often[other] / equal_rows / sizes[both % width]
    return float(chances.sum())
