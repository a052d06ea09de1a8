"""How likely two ranks exchange their values under rank swapping: exact, or from many rankings.

Who is free at a rank depends on all exchanges before it. Of the few ranks within reach each is free
or not, so that for a short reach all cases can be followed from rank to rank with their chances.
For a longer one there are too many, and the chances are counted in simulated rankings.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.laws.rank_swaps import mu_argus_partners

LARGEST_EXACT = 12  # reach: 2^11 cases at each rank
LARGEST_FOLLOWED = 2000  # ranks whose cases are followed
FEWEST, MOST = 4, 100  # simulated rankings
_RANKS = 200_000  # of all of them together

Chances: TypeAlias = sparse.csr_array


def is_exact(n: int, reach: int) -> bool:
    """Whether all cases of Moore's form are followed for n ranks."""
    return reach <= 1 or (reach <= LARGEST_EXACT and n <= LARGEST_FOLLOWED)


def rankings(n: int) -> int:
    """How many rankings of n values are simulated where cases are not followed."""
    return int(np.clip(_RANKS // max(n, 1), FEWEST, MOST))


def exact_moore_chances(n: int, reach: int) -> Chances:
    """The chance of each pair of ranks to exchange values, all cases followed.

    Parameters
    ----------
    n : int
        Ranks.
    reach : int
        As for `moore_partners`.

    Returns
    -------
    sparse array of float64, shape (n, n)
        Symmetric; the diagonal holds the chance to stay. Rows sum to 1.

    References
    ----------
    Moore 1996: a free rank takes a uniform one of the free ranks that follow within reach.
    """
    width = max(min(reach, n) - 1, 0)  # ranks that follow within reach
    if not width:
        return sparse.csr_array(sparse.eye_array(n))
    cases = np.arange(2**width)  # bit d: the rank that is d further on is free
    count = np.bitwise_count(cases >> 1).astype(np.float64)
    chance = np.zeros(2**width)
    chance[-1] = 1.0
    pairs = np.zeros((n, width + 1))  # [i, d]: rank i exchanges with rank i + d
    open_ = (cases & 1) == 1
    for place in range(n):
        further = place + width < n  # the last rank within reach is still free
        free = count + further
        each = np.divide(chance, free, out=np.zeros_like(chance), where=open_ & (free > 0))
        left = np.where(open_ & (free > 0), 0.0, chance)
        after = np.bincount((cases >> 1) | (further << (width - 1)), left, 2**width)
        for step in range(1, width + 1):
            within = (cases >> step) & 1 if step < width else np.full(len(cases), int(further))
            taken = np.where(within == 1, each, 0.0)
            pairs[place, step] = taken.sum()
            moved = ((cases >> 1) | (further << (width - 1))) & ~(1 << (step - 1))
            after += np.bincount(moved, taken, 2**width)
        chance = after
    return _symmetric(pairs, n)


def _symmetric(pairs: NDArray[np.float64], n: int) -> Chances:
    rank, step = np.nonzero(pairs)
    upper = sparse.coo_array((pairs[rank, step], (rank, rank + step)), shape=(n, n))
    both = sparse.csr_array(upper + upper.T)
    stay = np.maximum(1.0 - np.asarray(both.sum(axis=1)).ravel(), 0.0)
    return sparse.csr_array(both + sparse.diags_array(stay))


def counted_moore_chances(n: int, reach: int, seed: int) -> Chances:
    """The same chances as shares of simulated rankings."""
    from rwn_core.laws.rank_partners_kernel import moore_rankings

    return _shares(moore_rankings(n, reach, rankings(n), seed))


def counted_mu_argus_chances(n: int, reach: int, seed: int) -> Chances:
    """The chances of the form of mu-Argus, from the lowest rank on, as shares of rankings."""
    repeats, generator = rankings(n), np.random.default_rng(seed)
    return _shares(
        np.array([mu_argus_partners(reach, generator.random(n)) for _ in range(repeats)])
    )


def _shares(partner: NDArray[np.int64]) -> Chances:
    repeats, n = partner.shape
    rank = np.tile(np.arange(n), repeats)
    share = np.full(partner.size, 1 / repeats)
    return sparse.csr_array(sparse.coo_array((share, (rank, partner.ravel())), shape=(n, n)))
