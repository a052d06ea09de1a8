"""One-to-one assignment of all released rows to originals, and the joint posterior by scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks.scaled_columns import entries

# decides: records that are assigned jointly, n cubed steps; beyond, linkage is "at least" or not
# read
LARGEST_ASSIGNMENT = 1500
LARGEST_SCALING = 5_000_000  # decides: possible pairs up to which all rows have a joint posterior
SCALING_STEPS = 20  # with more, names are right .002 more often at most
SCALED = 1e-9  # deviation of a row's beliefs from a sum of 1 at which the scaling ends
_FORBIDDEN = 1e6  # costs more than any row's log-likelihood can save

Orders = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Records that can change places with each other in some assignment.

    Attributes
    ----------
    block_of : ndarray of int64, shape (n,)
        Block of each record and of its row.
    sizes : ndarray of int64, shape (blocks,)
    """

    block_of: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def affordable(self) -> bool:
        """True if the most likely assignment is found in at most about 1,500 cubed steps."""
        return float((self.sizes.astype(float) ** 3).sum()) <= float(LARGEST_ASSIGNMENT) ** 3


def blocks(belief: sparse.csc_array) -> Blocks:
    """Split a file into the strongly connected blocks of belief, shape (n, n); row i is from i."""
    # a pair is in a perfect matching if and only if it lies within a strongly connected part of the
    # graph that any perfect matching directs, and the truth is one (Dulmage and Mendelsohn 1958)
    from scipy.sparse.csgraph import connected_components

    n = belief.shape[0]
    if not possible(belief):
        return Blocks(block_of=np.zeros(n, dtype=np.int64), sizes=np.array([n]))
    # turned around it has the same parts, in the form that is looked through
    _, of = connected_components(belief.T, connection="strong")
    return Blocks(block_of=of.astype(np.int64), sizes=np.bincount(of).astype(np.int64))


def possible(belief: sparse.csc_array) -> bool:
    """True if every row can come from its own record, so that the truth is an assignment."""
    from rwn_core.measures.attacks.belief_columns_kernel import record_shares

    own = np.arange(belief.shape[1])
    return bool(np.all(record_shares(*entries(belief), own) > 0))


def most_likely(belief: sparse.csc_array, parts: Blocks, orders: Orders) -> NDArray[np.int64]:
    """Return the original of each row in the most likely assignment, shape (n,)."""
    # canonical orders of originals and rows break ties; a column's scale does not matter
    from scipy.optimize import linear_sum_assignment

    (originals, place), (rows, row_place) = (_by_block(parts, order) for order in orders)
    ends = np.cumsum(parts.sizes)
    pairs = _within(belief, parts)
    linked = np.empty(len(rows), dtype=np.int64)
    alone = parts.sizes[parts.block_of] == 1
    linked[alone] = np.flatnonzero(alone)
    for number in np.flatnonzero(parts.sizes > 1):
        size, here = parts.sizes[number], slice(*pairs.starts[number : number + 2])
        cost = np.full((size, size), _FORBIDDEN)
        cost[place[pairs.record[here]], row_place[pairs.row[here]]] = pairs.cost[here]
        one, two = linear_sum_assignment(cost)
        own = slice(ends[number] - size, ends[number])
        linked[rows[own][two]] = originals[own][one]
    return linked


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Possible pairs of an original and a row, by block."""

    record: NDArray[np.int64]
    row: NDArray[np.int64]
    cost: NDArray[np.float64]
    starts: NDArray[np.int64]


def _within(belief: sparse.csc_array, parts: Blocks) -> _Pairs:
    entries = sparse.coo_array(belief)
    record, row = entries.coords
    kept = (parts.block_of[record] == parts.block_of[row]) & (entries.data > 0)
    record, row, value = record[kept], row[kept], entries.data[kept]
    sorted_by_block = np.argsort(parts.block_of[row], kind="stable")
    record, row, value = (each[sorted_by_block] for each in (record, row, value))
    starts = np.searchsorted(parts.block_of[row], np.arange(len(parts.sizes) + 1))
    # rounded, so that equal costs stay equal
    return _Pairs(record, row, np.round(-np.log(value), 9), starts)


def _by_block(parts: Blocks, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return records in an order, block by block, and each record's place in its block."""
    inside = order[np.argsort(parts.block_of[order], kind="stable")]
    place = np.empty(len(order), dtype=np.int64)
    starts = np.cumsum(parts.sizes) - parts.sizes
    place[inside] = np.arange(len(order)) - starts[parts.block_of[inside]]
    return inside, place


def scaled(
    belief: sparse.csc_array,
    parts: Blocks,
    order: NDArray[np.int64] | None = None,
    steps: int = SCALING_STEPS,
) -> sparse.csc_array | None:
    """Approximate P(row r comes from original i | all rows): scale both sums to 1 in turn."""
    # pairs of different blocks are in no assignment and get 0 (Sinkhorn and Knopp 1967)
    if not possible(belief) or belief.nnz > LARGEST_SCALING:
        return None
    inside = _inside(belief, parts, order)
    across = inside.T  # once: a product from the left would turn the matrix at each step
    of_row = np.ones(belief.shape[0])
    for _ in range(steps):
        of_record = 1.0 / (inside @ of_row)
        sums = across @ of_record
        if np.abs(sums * of_row - 1).max() < SCALED:
            break
        of_row = 1.0 / sums
    inside.data *= of_record[inside.indices] * np.repeat(of_row, np.diff(inside.indptr))
    return inside


def _inside(
    belief: sparse.csc_array, parts: Blocks, order: NDArray[np.int64] | None
) -> sparse.csc_array:
    """Return the pairs within blocks in the given order of records and rows."""
    from rwn_core.measures.attacks.belief_columns_kernel import shares_within

    if order is None and len(parts.sizes) == 1:
        return belief.copy()
    order = np.arange(belief.shape[0]) if order is None else order
    starts, records, shares = shares_within(*entries(belief), parts.block_of, order)
    return sparse.csc_array(
        (shares, records, starts.astype(belief.indptr.dtype)), shape=belief.shape
    )


def canonical_order(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an order of records that depends on their values only, shape (n,)."""
    return np.lexsort(cells.T[::-1])


def cheapest_assignment(
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
