"""Score of an attack that names values: recall times precision beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from rwn_core.data.arrays import Booleans, Floats

CHANCE = 0.01  # that any of the names that are compared is beyond luck where none is
LUCK = 0.025  # chance that the true precision lies below the bound that counts


def naming_score(right: ArrayLike, named: ArrayLike, people: ArrayLike, base: ArrayLike) -> Floats:
    """Score an attack that names a value: recall x (lower - base) / (1 - base), from 0 to recall.

    `people` have the value; `base` is the precision of naming it of random people. Naming the
    majority of all people scores 0.

    >>> naming_score(10, 10, 13, 13 / 600).round(3).item()
    0.527
    >>> naming_score(570, 600, 570, 0.95).item()
    0.0
    """
    # lower: one-sided 97.5 % bound of Clopper and Pearson for the precision right / named, so that
    # a few lucky names do not count
    r, n, p, b = np.broadcast_arrays(
        *[np.asarray(x, np.float64) for x in (right, named, people, base)]
    )
    low = np.zeros(r.shape)
    some = (r > 0) & (n > 0) & (p > 0) & (b < 1)
    low[some] = betaincinv(r[some], np.maximum(n[some] - r[some], 0.0) + 1, LUCK)
    score = np.zeros(r.shape)
    lift = (low[some] - b[some]) / (1 - b[some])
    score[some] = r[some] / p[some] * np.maximum(lift, 0.0)
    return score


def beyond_luck(right: Floats, named: Floats, base: Floats) -> Booleans:
    """True if random naming gives so many right names with a chance below 1 % over all counts."""
    luck = betainc(
        np.maximum(right, 1.0), np.maximum(named - right, 0.0) + 1, np.minimum(base, 1.0)
    )
    return np.asarray(luck <= CHANCE / max(int((named > 0).sum()), 1), dtype=bool)
