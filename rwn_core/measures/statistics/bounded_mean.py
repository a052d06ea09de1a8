"""Where the mean of numbers from 0 to 1 lies, by what is known of some of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ERROR = 0.025  # that the mean is larger: one end of a 95 % interval
LARGEST_BET = 0.75  # of the capital: a single number takes no more
_SEED = 20240201  # of the order: fixed, so that a number changes only with the sample


def mean_interval(sample: NDArray[np.float64], of: int) -> tuple[float, float]:
    """Both ends of the 95 % interval of a mean; see `mean_at_most`."""
    return 1 - mean_at_most(1 - sample, of), mean_at_most(sample, of)


def mean_at_most(sample: NDArray[np.float64], of: int) -> float:
    """The upper end of the 95 % interval of a mean, whatever the numbers' distribution.

    Parameters
    ----------
    sample : ndarray of float64, shape (m,)
        From 0 to 1; drawn at random from all numbers, none twice, and at least one.
    of : int
        How many numbers there are.

    Returns
    -------
    float
        From the sample's mean to 1.

    Notes
    -----
    Somebody bets, number after number, that each is smaller than the mean of those that are left
    would be if the mean of all were `m`. Where `m` is the mean, nobody multiplies his capital by
    40 but with a chance of 1 in 40. The end is the smallest `m` from which on he has. What he bets
    depends on the numbers before: much where they vary little.

    References
    ----------
    Waudby-Smith and Ramdas 2024 (JRSS B 86), sections 3 and 4.
    """
    from scipy.optimize import brentq

    numbers = np.random.default_rng(_SEED).permutation(sample)
    bets, taken = _bets(numbers), np.cumsum(numbers) - numbers
    left = of - np.arange(len(numbers))

    def excess(mean: float) -> float:
        """The logarithm of the capital beyond what excludes a mean."""
        expected = (of * mean - taken) / left
        return float(np.log1p(bets * (expected - numbers)).sum() + np.log(ERROR))

    own = float(numbers.mean())
    if excess(1.0) <= 0:
        return 1.0
    return own if excess(own) >= 0 else float(brentq(excess, own, 1.0))


def _bets(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the capital that is put on each number, by those before it."""
    seen = np.arange(2, len(numbers) + 2)
    mean = (0.5 + np.cumsum(numbers)) / seen
    variance = (0.25 + np.cumsum(np.square(numbers - mean))) / seen
    before = np.concatenate([[0.25], variance[:-1]])
    bets = np.sqrt(-2 * np.log(ERROR) / (len(numbers) * before))
    return np.asarray(np.minimum(bets, LARGEST_BET), dtype=np.float64)
