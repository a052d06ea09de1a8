"""Choices of categories under PRAM, in one stage or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.laws.transition_law import Choice
from rwn_core.laws.transition_matrix import invariant


class Levels(NamedTuple):
    """Hold the levels of a variable that occur.

    Attributes
    ----------
    own : ndarray of int64, shape (n,)
        Each record's value as a number; those that are no level stay as they are.
    codes : ndarray of int64, shape (K,)
        The numbers of the levels, ascending.
    counts : ndarray of int64, shape (K,)
    """

    own: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        """K, how many there are."""
        return len(self.codes)

    @property
    def shares(self) -> NDArray[np.float64]:
        """v, shape (K,)."""
        return self.counts / max(int(self.counts.sum()), 1)

    @property
    def changing(self) -> NDArray[np.int64]:
        """The records that have a level."""
        return np.flatnonzero(np.isin(self.own, self.codes))

    @property
    def places(self) -> NDArray[np.int64]:
        """Which level each of them has, from 0 to K - 1."""
        return np.searchsorted(self.codes, self.own[self.changing])


def chosen_by(
    levels: Levels, matrix: NDArray[np.float64], second_stage: bool, alpha: float
) -> Choice:
    """The choice under a given matrix."""
    full = invariant(matrix, levels.shares) if second_stage else matrix
    count = levels.size
    return _choice(levels, np.full(count, 1 - alpha), alpha * np.eye(count), full)


def chosen_anew(
    levels: Levels, change: float, spread: str, second_stage: bool, alpha: float
) -> Choice:
    """The choice where a value is drawn anew with a probability: no large matrix is needed."""
    v, count = levels.shares, levels.size
    if not count or not change:
        return _choice(levels, np.ones(count), np.zeros((count, 1)), np.zeros((1, count)))
    even = np.full(count, 1 / count)
    if spread == "margins" or not second_stage:
        drawn, pool = alpha * change, v if spread == "margins" else even
        return _choice(
            levels, np.full(count, 1 - drawn), np.full((count, 1), drawn), pool[np.newaxis]
        )
    a, u = 1 - change, change / count
    m = a * v + u
    back = v / m
    pools = np.array([v, back / back.sum()])
    to_shares = a * u / m + u**2 * (1 / m).sum()
    weights = alpha * np.column_stack((to_shares, np.full(count, a * u * back.sum())))
    return _choice(levels, 1 - alpha + alpha * a**2 * back, weights, pools)


def within_strata(
    levels: Levels, strata: NDArray[np.int64], choose: Callable[[Levels], Choice]
) -> Choice:
    """The choice where the records of each stratum have levels and shares of their own."""
    n, wide = len(levels.own), int(levels.own.max()) + 1
    keep, pools, parts = np.ones(n), [], []
    for stratum in range(int(strata.max()) + 1):
        here = np.flatnonzero(strata == stratum)
        own = levels.own[here]
        counts = np.bincount(own, minlength=wide)[levels.codes]
        some = counts > 0
        choice = choose(Levels(own=own, codes=levels.codes[some], counts=counts[some]))
        keep[here] = choice.keep
        places = (np.ones(len(here)), (here, np.arange(len(here))))
        parts.append(sparse.csr_array(places, shape=(n, len(here))) @ choice.weights)
        pools.append(np.pad(choice.pools, ((0, 0), (0, wide - choice.pools.shape[1]))))
    weights = sparse.csr_array(sparse.hstack(parts, format="csr"))
    return Choice(keep=keep, weights=weights, pools=np.vstack(pools))


def _choice(
    levels: Levels,
    keep: NDArray[np.float64],
    weights: NDArray[np.float64],
    pools: NDArray[np.float64],
) -> Choice:
    """The choice of every record from that of every level."""
    n, changing, places = len(levels.own), levels.changing, levels.places
    own_keep = np.ones(n)
    own_keep[changing] = keep[places]
    by_level = sparse.csr_array(weights)
    picks = sparse.csr_array(
        (np.ones(len(places)), (changing, places)), shape=(n, max(levels.size, 1))
    )
    if not levels.size:
        by_level = sparse.csr_array((1, 1))
    wide = np.zeros((len(pools), int(levels.own.max()) + 1))
    wide[:, levels.codes] = pools
    return Choice(keep=own_keep, weights=sparse.csr_array(picks @ by_level), pools=wide)
