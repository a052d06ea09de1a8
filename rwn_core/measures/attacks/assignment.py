"""One-to-one assignment of all released rows to originals, and the joint posterior of all rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import ATTACKED_PAIRS, LARGEST_ASSIGNMENT
from rwn_core.measures.attacks.posterior import entries, largest, of_units, shares_of, times
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.key_variables import cell_codes

SCALING_STEPS = 20  # with more, names are right .002 more often at most
SCALED = 1e-9  # deviation of a row's beliefs from a sum of 1 at which the scaling ends
_FORBIDDEN = 1e6  # costs more than any row's log-likelihood can save

Orders = tuple[Integers, Integers]


def affordable(block_of: Integers) -> bool:
    """True if the most likely assignment is found in at most about 1,500 cubed steps."""
    # Shapes: block_of (n,), as of `blocks`.
    return float((np.bincount(block_of) ** 3.0).sum()) <= float(LARGEST_ASSIGNMENT) ** 3


def blocks(belief: sparse.csc_array) -> Integers:
    """Return the block of each record and of its row, which is from it; shape (n,).

    Records of a block can change places with each other in some assignment.
    """
    # a pair is in a perfect matching if and only if it lies within a strongly connected part of the
    # graph that any perfect matching directs, and the truth is one (Dulmage and Mendelsohn 1958)
    from scipy.sparse.csgraph import connected_components

    if not possible(belief):
        return np.zeros(belief.shape[0], dtype=np.int64)
    # turned around it has the same parts, in the form that is looked through
    return np.asarray(connected_components(belief.T, connection="strong")[1], dtype=np.int64)


def possible(belief: sparse.csc_array) -> bool:
    """True if every row can come from its own record, so that the truth is an assignment."""
    return bool(np.all(belief.diagonal() > 0))


def most_likely(belief: sparse.csc_array, block_of: Integers, orders: Orders) -> Integers:
    """Return the original of each row in the most likely assignment, shape (n,)."""
    # canonical orders of originals and rows break ties; a column's scale does not matter
    from scipy.optimize import linear_sum_assignment

    (originals, place), (rows, row_place) = (_by_block(block_of, order) for order in orders)
    sizes = np.bincount(block_of)
    ends = np.cumsum(sizes)
    # the possible pairs of an original and a row, by block
    record = belief.indices
    row = np.repeat(np.arange(belief.shape[1]), np.diff(belief.indptr))
    within = (block_of[record] == block_of[row]) & (belief.data > 0)
    record = record[within]
    row = row[within]
    value = belief.data[within]
    sorted_by_block = np.argsort(block_of[row], kind="stable")
    record, row, value = (each[sorted_by_block] for each in (record, row, value))
    starts = np.searchsorted(block_of[row], np.arange(len(sizes) + 1))
    costs = np.round(-np.log(value), 9)  # rounded, so that equal costs stay equal
    linked = np.empty(len(rows), dtype=np.int64)
    alone = sizes[block_of] == 1
    linked[alone] = np.flatnonzero(alone)
    for number in np.flatnonzero(sizes > 1):
        size = sizes[number]
        places = slice(*starts[number : number + 2])
        cost = np.full((size, size), _FORBIDDEN)
        cost[place[record[places]], row_place[row[places]]] = costs[places]
        one, two = linear_sum_assignment(cost)
        own = slice(ends[number] - size, ends[number])
        linked[rows[own][two]] = originals[own][one]
    return linked


def _by_block(block_of: Integers, order: Integers) -> tuple[Integers, ...]:
    """Return records in an order, block by block, and each record's place in its block."""
    inside = order[np.argsort(block_of[order], kind="stable")]
    place = np.empty(len(order), dtype=np.int64)
    sizes = np.bincount(block_of)
    place[inside] = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[block_of[inside]]
    return inside, place


def scaled(
    belief: sparse.csc_array,
    block_of: Integers,
    order: Integers | None = None,
    steps: int = SCALING_STEPS,
) -> sparse.csc_array | None:
    """Approximate P(row r comes from original i | all rows): scale both sums to 1 in turn."""
    # pairs of different blocks are in no assignment and get 0 (Sinkhorn and Knopp 1967)
    if not possible(belief) or belief.nnz > ATTACKED_PAIRS:
        return None
    inside = _inside(belief, block_of, order)
    factors = sum_to_one(inside, np.ones(len(block_of)), steps)
    if factors is None:
        return None
    of_record, of_row = factors
    inside.data *= of_record[inside.indices] * np.repeat(of_row, np.diff(inside.indptr))
    return inside


def sum_to_one(
    belief: sparse.csc_array, rows: Floats, steps: int = SCALING_STEPS
) -> tuple[Floats, Floats] | None:
    """Return factors of originals and columns that scale both sums to 1; None if impossible."""
    # belief (n, m), and how many rows each column stands for (m,)
    from rwn_core.measures.attacks.belief_columns_kernel import Scaling, scale_sums

    n, m = belief.shape
    scaling = Scaling(np.empty(n), np.empty(m), steps, SCALED)
    if not scale_sums(*entries(belief), rows, scaling):
        return None
    return scaling.of_record, scaling.of_column


def _inside(
    belief: sparse.csc_array, block_of: Integers, order: Integers | None
) -> sparse.csc_array:
    """Return the pairs within blocks in the given order of records and rows."""
    if order is None and not block_of.any():
        return belief.copy()
    pairs = belief.tocoo()
    place = np.arange(belief.shape[0])
    if order is not None:
        place[order] = np.arange(len(order))
    record, row = pairs.coords
    within = block_of[record] == block_of[row]
    where = place[record[within]], place[row[within]]
    inside = sparse.csc_array((pairs.data[within], where), shape=belief.shape)
    inside.sort_indices()
    return inside


def canonical_order(cells: Integers) -> Integers:
    """Return an order of records that depends on their values only, shape (n,)."""
    return np.lexsort(cells.T[::-1])


def in_classes(cells: Integers) -> tuple[Integers, Integers]:
    """Return the canonical order of records, and each one's class of equal cells."""
    order = canonical_order(cells)
    ordered = cells[order]
    numbers = np.empty(len(cells), dtype=np.int64)
    numbers[order] = np.cumsum(np.append(False, np.any(ordered[1:] != ordered[:-1], axis=1)))
    return order, numbers


def expected_right(
    linked: Integers,
    person: Integers,
    row: Integers,
    leaves: Booleans | None = None,
    units: Integers | None = None,
) -> float:
    """Return the expected number of correct links if equal rows and originals are exchanged."""
    # a link to any record of the row's unit is correct; a record is its own without `units`, (n,)
    sizes = np.bincount(person)
    width = len(sizes)
    left = np.arange(len(person)) if leaves is None else np.flatnonzero(leaves)
    row = row[left]
    given, so_often = np.unique(row * width + person[linked[left]], return_counts=True)
    # pairs of a class of rows and one of originals, of one record or unit
    if units is None:
        pair, often = np.unique(row * width + person[left], return_counts=True)
        place = np.minimum(np.searchsorted(pair, given), len(pair) - 1)
        how_often = np.where(pair[place] == given, often[place], 0).astype(np.float64)
    else:
        together = _members(row, units[left], units) @ _members(person, units, units).T
        how_often = np.asarray(together.tocsr()[given // width, given % width]).ravel()
    some = how_often > 0
    both = given[some]
    equal_rows = np.bincount(row)[both // width]
    return float((so_often[some] * how_often[some] / equal_rows / sizes[both % width]).sum())


def _members(classes: Integers, own: Integers, units: Integers) -> sparse.csr_array:
    """Return how many members of each class each unit has."""
    shape = int(classes.max(initial=0)) + 1, int(units.max(initial=0)) + 1
    return sparse.csr_array((np.ones(len(own)), (classes, own)), shape=shape)


EXCHANGES = 20_000  # tried in all, and each row's `FEWEST` times at least
FEWEST = 10
_SEED = 19530301  # of the exchanges: fixed, so that a number changes only with the release


AllRows = tuple[float, Floats]
"""Of the joint posterior of all rows: expected share of correct links among the released rows, and
the approximate posterior of each row's true source, from `scaled`, shape (n,)."""


def released_classes(comparison: Comparison) -> tuple[Orders, Orders]:
    """Return `in_classes` of the originals, and of their rows, by all released variables."""
    names = tuple([variable.name for variable in comparison.original.schema.released])
    before, after = cell_codes(comparison, names)
    # codes of other releases differ, but their order does not
    own = comparison.cached_for_original(("in classes", names), lambda: in_classes(before))
    return own, comparison.cached_for_release("in classes", lambda: in_classes(after))


def all_rows(
    belief: sparse.csc_array,
    block_of: Integers,
    order: Integers | None = None,
    leaves: Booleans | None = None,
    units: Integers | None = None,
) -> AllRows | None:
    """Return the success of naming each row's most likely source, or unit, given all rows."""
    # None if the truth is no matching of the belief, or there are too many pairs. Joint posteriors
    # are permanents; `scaled` beliefs stand for them (Sinkhorn and Knopp 1967). Correct names are
    # counted in matchings drawn from the joint posterior by exchanges (Metropolis and others 1953).
    # The true matching is such a draw, so a chain that starts there needs no burn-in: the share is
    # unbiased at any length, except for matchings that no exchanges of two rows reach.
    together = scaled(belief, block_of, order)
    if together is None or not np.all(np.isfinite(together.data)):
        return None
    together.eliminate_zeros()
    if not np.all(together.diagonal() > 0):
        return None
    from rwn_core.measures.attacks.belief_columns_kernel import agreeing_matchings

    n = together.shape[0]
    shares = times(together, 1.0 / np.asarray(together.sum(axis=0)).ravel())
    _, named = largest(shares)
    order = np.arange(n) if order is None else order
    rows = n
    own = np.arange(n)
    true = shares.diagonal()
    names = [named]
    if units is not None:  # the unit of the most likely record, or the most likely unit
        own = units[order]
        summed = of_units(shares, units[order])
        true = shares_of(summed, own)
        names = [own[named], largest(summed)[1]]
    truth = np.empty(n)
    truth[order] = np.minimum(true, 1.0)
    if leaves is not None and not leaves.all():
        names = [np.where(leaves[order], named, -1) for named in names]
        rows = int(leaves.sum())
    sums = np.cumsum(shares.data)
    sums -= np.repeat(np.concatenate([[0.0], sums])[shares.indptr[:-1]], np.diff(shares.indptr))
    sweeps = max(FEWEST, -(-EXCHANGES // n))
    candidates = (shares.indptr.astype(np.int32), shares.indices.astype(np.int32))
    drawn = _exchanges(sweeps, n)
    right = max(
        agreeing_matchings(*candidates, shares.data, sums, named, own, *drawn) for named in names
    )
    return float(right / rows), truth


@lru_cache(maxsize=1)
def _exchanges(sweeps: int, n: int) -> tuple[Integers, Floats]:
    """Return rows and random numbers of the exchanges, the same for every release of n records."""
    numbers = np.random.default_rng(_SEED)
    return numbers.integers(n, size=(sweeps, n)), numbers.random((2, sweeps, n))
