"""Rankings in which free ranks exchange with random free ones that follow: many, quickly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Integers
from rwn_core.parallel.jit import jit_entry, jit_inline

TRIES = 30  # random ranks, before the free ones are counted


@jit_inline
def _below(state: NDArray[np.uint64], end: int) -> int:
    """A random whole number from 0 to less than `end`, by a congruential generator."""
    # Shapes: state (1,).
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return int((state[0] >> np.uint64(33)) % np.uint64(end))


@jit_entry
def moore_rankings(n: int, reach: int, repeats: int, seed: int) -> Integers:
    """Partners along simulated rankings: see `rwn_core.laws.rank_swaps.moore_partners`."""
    # A random one of the ranks within reach that is not free is thrown away and another taken: what
    # is left is uniform among the free ones. `n` are ranks, `reach` is the whole part of P N; the
    # answer has the shape (repeats, n).
    state = np.array([seed * 2 + 1], np.uint64)
    for _ in range(10):
        _below(state, 2)
    partner = np.empty((repeats, n), np.int64)
    for repeat in range(repeats):
        for place in range(n):
            partner[repeat, place] = -1
        for place in range(n):
            if partner[repeat, place] >= 0:
                continue
            end = min(place + reach, n)
            other = place
            for _ in range(TRIES if end > place + 1 else 0):
                some = place + 1 + _below(state, end - place - 1)
                if partner[repeat, some] < 0:
                    other = some
                    break
            if other == place:
                count = 0
                for some in range(place + 1, end):
                    if partner[repeat, some] < 0:  # each of the free ones so far is equally likely
                        count += 1
                        if _below(state, count) == 0:
                            other = some
            partner[repeat, place] = other
            partner[repeat, other] = place
    return partner
