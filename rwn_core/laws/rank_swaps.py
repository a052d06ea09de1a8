"""Rank swapping: partners in two published forms, exchange probabilities and expected cells."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.data.variable import Kind
from rwn_core.laws.moments import Expectations, Moments
from rwn_core.neighbors.record_draws import order_by

# decides: ranks a swap may reach for exact expectations, with at most `LARGEST_FOLLOWED` records
LARGEST_EXACT = 12
LARGEST_FOLLOWED = 2000  # up to this many ranks, cases are followed
FEWEST, MOST = 4, 100  # simulated rankings
_RANKS = 200_000  # of all of them together

Chances: TypeAlias = sparse.csr_array


def is_exact(n: int, reach: int) -> bool:
    """True if all cases of Moore's form are enumerated for n ranks."""
    return reach <= 1 or (reach <= LARGEST_EXACT and n <= LARGEST_FOLLOWED)


def rankings(n: int) -> int:
    """Return the number of rankings simulated if cases are not enumerated."""
    return int(np.clip(_RANKS // max(n, 1), FEWEST, MOST))


def exact_moore_chances(n: int, reach: int) -> Chances:
    """Return the probability that two of n ranks exchange values, shape (n, n); diagonal: stay."""
    # Moore 1996: a free rank takes a uniform one of the free ranks that follow within reach.
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
    # both ranks of a pair, and what is left to stay
    rank, apart = np.nonzero(pairs)
    places = (rank, rank + apart)
    upper = sparse.coo_array((pairs[rank, apart], places), shape=(n, n))
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


def _shares(partner: Integers) -> Chances:
    repeats, n = partner.shape
    rank = np.tile(np.arange(n), repeats)
    share = np.full(partner.size, 1 / repeats)
    return sparse.csr_array(sparse.coo_array((share, (rank, partner.ravel())), shape=(n, n)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedVariable:
    """Hold one variable along its ranking."""

    name: str
    # shape (N,): the records with a value, the largest first. Ties are broken at random in every
    # release.
    order: Integers
    values: Floats  # shape (N,): theirs
    # ranks before it take the mean of their values, and so do those behind the exchanged ones
    first: int
    chances: sparse.csr_array  # shape (m, m): which of the m exchanged ranks gives each its value
    releases: int  # from how many rankings the chances are counted; 0 where they are exact

    @property
    def written(self) -> Floats:
        """The values with those of both ends replaced by the ends' means, shape (N,)."""
        written, last = self.values.copy(), self.first + self.chances.shape[0]
        for end in (slice(0, self.first), slice(last, len(written))):
            if written[end].size:
                written[end] = written[end].mean()
        return written

    @property
    def ties(self) -> Integers:
        """Numbers of the different values along the ranking, shape (N,)."""
        return np.unique(-self.values, return_inverse=True)[1].astype(np.int64)

    def expected(self, shown: Floats) -> Floats:
        """The expectation of what a rank would show, of each rank, averaged over ties."""
        # Shapes: shown, the answer (N, c).
        last = self.first + self.chances.shape[0]
        moved = np.vstack(
            [shown[: self.first], self.chances @ shown[self.first : last], shown[last:]]
        )
        return self._over_ties(moved)

    def retained(self) -> Floats:
        """P(a rank shows the value that it had), averaged over ties, shape (N,)."""
        ties, last = self.ties, self.first + self.chances.shape[0]
        same = np.asarray(self.written == self.values, dtype=np.float64)
        inside, pairs = ties[self.first : last], self.chances.tocoo()
        equal = inside[pairs.row] == inside[pairs.col]
        same[self.first : last] = np.bincount(pairs.row[equal], pairs.data[equal], len(inside))
        return self._over_ties(same[:, None])[:, 0]

    def _over_ties(self, shown: Floats) -> Floats:
        # Shapes: shown, the answer (N, c).
        ties = self.ties
        some = sparse.csr_array((np.ones(len(ties)), (ties, np.arange(len(ties)))))
        mean = (some @ shown) / np.bincount(ties)[:, None]
        return np.asarray(mean[ties])


def rank_swap_expectations(
    microdata: Microdata, parts: Mapping[str, RankedVariable]
) -> Expectations:
    """Return the expectations of a release in which these variables change independently."""
    names = microdata.numeric_names
    means = microdata.matrix(names).astype(np.float64)
    variances = np.zeros(means.shape)
    stays = {}
    # of each variable how likely a value stays, and of a number its mean and spread
    for name, part in parts.items():
        stays[name] = np.ones(microdata.n)
        stays[name][part.order] = part.retained()
        if name in names:
            column = names.index(name)
            center = part.values.mean()
            written = part.written - center
            found = part.expected(np.column_stack([written, written**2]))
            means[part.order, column] = center + found[:, 0]
            variances[part.order, column] = np.maximum(found[:, 1] - found[:, 0] ** 2, 0.0)
    return Expectations(
        original=microdata,
        moments=Moments(
            names=tuple(names),
            means=means,
            variances=variances,
            together=np.diag(variances.sum(axis=0)),
            totals=np.zeros((len(names),) * 2),
        ),
        stays=stays,
        levels={
            name: _levels(microdata, part)
            for name, part in parts.items()
            if microdata.schema.variable(name).kind is Kind.ORDERED
        },
        releases=max((part.releases for part in parts.values()), default=0),
    )


def _levels(microdata: Microdata, part: RankedVariable) -> Floats:
    # Shapes: (V, V).
    codes, values = value_codes(microdata, part.name)
    own = codes[part.order]
    chances, found = np.eye(len(values)), part.expected(np.eye(len(values))[own])
    chances[own] = found
    return chances


HAIR = 1e-9  # so that 0.29 * 100 counts as 29


def whole_part(number: float) -> int:
    """The whole part of a share of a count, unharmed by rounding."""
    return math.floor(number + HAIR)


def moore_partners(reach: int, uniform: Floats) -> Integers:
    """Return partners along a ranking, shape (N,): a random free one of those that follow."""
    # Moore 1996. `reach` is the whole part of P N, its last rank left out; `uniform` has shape
    # (N,).
    partner, chance = list(range(len(uniform))), uniform.tolist()
    free = list(range(1 - len(uniform), 1))  # negated, so that the next rank is the last entry
    while free and reach > 1:
        place = -free.pop()
        within = len(free) - bisect_right(free, -place - reach)
        if within:
            other = -free.pop(-1 - int(chance[place] * within))
            partner[place], partner[other] = other, place
    return np.array(partner, dtype=np.int64)


def mu_argus_partners(reach: int, uniform: Floats) -> Integers:
    """Return partners along a ranking, shape (N,): at a random distance, else the nearest free."""
    # The form that mu-Argus calls deprecated: distances up to `reach`, not uniform. `uniform` has
    # shape (N,).
    n = len(uniform)
    partner, free = np.arange(n), np.ones(n, dtype=bool)
    for place in range(n - 1 if reach else 0):
        if free[place]:
            aim = min(place + 1 + int(reach * uniform[place]), n - 1)
            before = np.flatnonzero(free[place + 1 : aim + 1])
            after = np.flatnonzero(free[aim : min(n - 1, place + reach) + 1])
            if before.size or after.size:
                other = place + 1 + int(before[-1]) if before.size else aim + int(after[0])
                partner[place], partner[other] = other, place
                free[other] = False
    return partner


def descending(values: Floats, ties: Floats) -> Integers:
    """The records with a known value, the largest first, ties in random order."""
    # Shapes: values, ties (n,); the answer (N,), of those known.
    known = np.flatnonzero(~np.isnan(values))
    return known[order_by(-values[known], ties[known])]
