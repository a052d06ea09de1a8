"""Joint posterior of all rows: the most likely source of each, and how often it is right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks import assignment
from rwn_core.measures.attacks.assignment import Blocks, canonical_order, scaled
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
        Expected share of correct links among the rows of the released file.
    truth : ndarray of float64, shape (n,)
        Approximate joint posterior of each row's true source, from `scaled`.
    """

    share: float
    truth: NDArray[np.float64]


def joint_posterior_success(
    comparison: Comparison,
    belief: sparse.csc_array,
    parts: Blocks,
    leaves: NDArray[np.bool_] | None = None,
) -> AllRows | None:
    """Return the success of linking by the joint posterior; None above the limit of pairs."""
    if belief.nnz > assignment.LARGEST_SCALING:
        return None
    released = [variable.name for variable in comparison.original.schema.released]
    order = canonical_order(both_cells(comparison, released))
    return all_rows(belief, parts, order, leaves)


def both_cells(comparison: Comparison, names: Sequence[str]) -> NDArray[np.int64]:
    """Return originals and their rows side by side as value numbers, shape (n, 2 len(names))."""
    return np.column_stack(cell_codes(comparison, names))


def all_rows(
    belief: sparse.csc_array,
    parts: Blocks,
    order: NDArray[np.int64] | None = None,
    leaves: NDArray[np.bool_] | None = None,
) -> AllRows | None:
    """Return the success of naming each row's most likely source given all rows."""
    # None if the truth is no matching of the belief, or there are too many pairs. Joint posteriors
    # are permanents; `scaled` beliefs stand for them (Sinkhorn and Knopp 1967). Correct names are
    # counted in matchings drawn from the joint posterior by exchanges (Metropolis and others 1953).
    # The true matching is such a draw, so a chain that starts there needs no burn-in: the share is
    # unbiased at any length, except for matchings that no exchanges of two rows reach.
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
    """Return rows and random numbers of the exchanges, the same for every release of n records."""
    numbers = np.random.default_rng(_SEED)
    return numbers.integers(n, size=(sweeps, n)), numbers.random((2, sweeps, n))
