"""Score of an attack that names values: recall times precision beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

LUCK = 0.025  # chance that the true precision lies below the bound that counts


def naming_score(
    right: ArrayLike, named: ArrayLike, people: ArrayLike, base: ArrayLike
) -> NDArray[np.float64]:
    """Score an attack that names a value of some people.

    Parameters
    ----------
    right : array_like of float
        Number of people named rightly; fractions count ties that are broken at random.
    named : array_like of float
        Number of people named, at least `right`.
    people : array_like of float
        Number of people who have the value: of a category the people of that level, of a number
        everybody. A person counts once.
    base : array_like of float
        Precision of naming this value of random people: the level's share of the people, or of a
        number the largest share within one tolerance of a single value.

    Returns
    -------
    ndarray of float64
        recall x (lower - base) / (1 - base), at least 0 and at most the recall. `lower` is the
        one-sided 97.5 % bound of Clopper and Pearson for the precision right / named, so that a
        few lucky names do not count. 0 where nobody is named or base is 1.

    Notes
    -----
    Naming the majority of everybody scores 0. Ten of 13 positives named without a false name
    score .527; one lucky name of 13 scores less than .001.

    Examples
    --------
    >>> naming_score(10, 10, 13, 13 / 600).round(3).item()
    0.527
    >>> naming_score(570, 600, 570, 0.95).item()
    0.0
    """
    r, n, p, b = np.broadcast_arrays(
        *(np.asarray(x, np.float64) for x in (right, named, people, base))
    )
    low = np.zeros(r.shape)
    some = (r > 0) & (n > 0) & (p > 0) & (b < 1)
    low[some] = betaincinv(r[some], np.maximum(n[some] - r[some], 0.0) + 1, LUCK)
    score = np.zeros(r.shape)
    lift = (low[some] - b[some]) / (1 - b[some])
    score[some] = r[some] / p[some] * np.maximum(lift, 0.0)
    return score
