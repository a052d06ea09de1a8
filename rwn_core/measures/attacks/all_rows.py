"""Weigh all rows together: the likeliest source of each, and how often it is the true one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks import assignment
from rwn_core.measures.attacks.assignment import Blocks, scaled
from rwn_core.measures.attacks.exchangeable_records import canonical_order
from rwn_core.measures.attacks.posterior import largest
from rwn_core.measures.attacks.scaled_columns import times
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.key_variables import cell_codes

EXCHANGES = 20_000  # tried in all, and each row's `FEWEST` times at least
FEWEST = 10
_SEED = 19530301  # of the exchanges: fixed, so that a number changes only with the release


class AllRows(NamedTuple):
    """Linkage success of the joint posterior of all rows.

    Attributes
    ----------
    share : float
        Expected share of right links, of the rows that leave.
    truth : ndarray of float64, shape (n,)
        Probability of each row's true source given all rows, as far as `scaled` beliefs have it.
    """

    share: float
    truth: NDArray[np.float64]


def joint_posterior_success(
    comparison: Comparison,
    belief: sparse.csc_array,
    parts: Blocks,
    leaves: NDArray[np.bool_] | None = None,
) -> AllRows | None:
    """Return the linkage success of the joint posterior of all rows, in any row order.

    Parameters
    ----------
    comparison : Comparison
    belief : sparse array, shape (n, n)
        Of all originals and rows, in the same order.
    parts : Blocks
        Of the belief.
    leaves : ndarray of bool, shape (n,), optional
        Which rows are in the file that leaves; all by default.

    Returns
    -------
    AllRows or None
        As `all_rows` has it.
    """
    if belief.nnz > assignment.LARGEST_SCALING:
        return None
    released = [variable.name for variable in comparison.original.schema.released]
    order = canonical_order(both_cells(comparison, released))
    return all_rows(belief, parts, order, leaves)


def both_cells(comparison: Comparison, names: Sequence[str]) -> NDArray[np.int64]:
    """Originals and their rows side by side, as numbers of values; shape (n, 2 len(names))."""
    return np.column_stack(cell_codes(comparison, names))


def joint_success_share(belief: sparse.csc_array, parts: Blocks) -> float | None:
    """The expected share of right links alone; see `all_rows`."""
    found = all_rows(belief, parts)
    return None if found is None else found.share


def all_rows(
    belief: sparse.csc_array,
    parts: Blocks,
    order: NDArray[np.int64] | None = None,
    leaves: NDArray[np.bool_] | None = None,
) -> AllRows | None:
    """Return the right links of naming each row's most likely source, given all rows.

    Parameters
    ----------
    belief : sparse array, shape (n, n)
        Column r is proportional to the likelihoods of the originals of row r, whose source is r.
    parts : Blocks
        Of the belief.
    order : ndarray of int64, shape (n,), optional
        In which records and rows are looked at; as they are by default.
    leaves : ndarray of bool, shape (n,), optional
        Which rows are in the file that leaves; all by default. Others count neither as rows nor
        as right links.

    Returns
    -------
    AllRows or None
        None where the truth is no matching of the belief, or there are too many pairs.

    Notes
    -----
    No attack expects more right links than naming each row's likeliest source given all rows.
    Those probabilities are permanents, which nobody computes; the beliefs `scaled` a few times
    stand for them. How often the names are right is then counted in matchings drawn as the
    release makes them likely. The true matching is such a draw itself, so that a chain begun there
    needs no time to settle: the share is unbiased whatever its length, and each further step takes
    some of the luck out of it, but for matchings that no exchanges of two rows lead to.

    References
    ----------
    Sinkhorn and Knopp 1967; Metropolis and others 1953.
    """
    together = scaled(belief, parts, order)
    if together is None or not np.all(np.isfinite(together.data)):
        return None
    together.eliminate_zeros()
    if not np.all(together.diagonal() > 0):
        return None
    from rwn_core.measures.attacks.matchings_kernel import agreeing_matchings

    n = together.shape[0]
    shares = times(together, 1.0 / np.asarray(together.sum(axis=0)).ravel())
    _, named = largest(shares)
    order = np.arange(n) if order is None else order
    truth, rows = np.empty(n), n
    truth[order] = np.minimum(shares.diagonal(), 1.0)
    if leaves is not None and not leaves.all():
        named, rows = np.where(leaves[order], named, -1), int(leaves.sum())
    sums = np.cumsum(shares.data)
    before = np.concatenate([[0.0], sums])[shares.indptr[:-1]]
    sums -= np.repeat(before, np.diff(shares.indptr))
    sweeps = max(FEWEST, -(-EXCHANGES // n))
    candidates = (shares.indptr.astype(np.int32), shares.indices.astype(np.int32))
    drawn = _exchanges(sweeps, n)
    right = agreeing_matchings(*candidates, shares.data, sums, named, *drawn)
    return AllRows(share=float(right / rows), truth=truth)


@lru_cache(maxsize=1)
def _exchanges(sweeps: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows and numbers of the exchanges: the same for every release of as many records."""
    numbers = np.random.default_rng(_SEED)
    return numbers.integers(n, size=(sweeps, n)), numbers.random((2, sweeps, n))
