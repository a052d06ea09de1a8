"""Confidence limits for the mean of a finite population of numbers from 0 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ERROR = 0.025  # that the mean is larger: one end of a 95 % interval
LARGEST_BET = 0.75  # of the capital: a single number takes no more
_SEED = 20240201  # of the order: fixed, so that a number changes only with the sample


def mean_interval(sample: NDArray[np.float64], of: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of `of` numbers, given a random sample."""
    return 1 - mean_at_most(1 - sample, of), mean_at_most(sample, of)


def mean_at_most(sample: NDArray[np.float64], of: int) -> float:
    """Return the upper 97.5 % confidence limit of the mean of `of` numbers, by betting."""
    # Waudby-Smith and Ramdas 2024 (JRSS B 86), sections 3 and 4: the capital of a bettor against
    # the mean m grows 40-fold with probability 1/40 if m is true. The limit is the smallest m that
    # this excludes.
    from scipy.optimize import brentq

    numbers = np.random.default_rng(_SEED).permutation(sample)
    bets, taken = _bets(numbers), np.cumsum(numbers) - numbers
    left = of - np.arange(len(numbers))

    def excess(mean: float) -> float:
        """Return the log capital beyond the level that excludes a mean."""
        expected = (of * mean - taken) / left
        return float(np.log1p(bets * (expected - numbers)).sum() + np.log(ERROR))

    own = float(numbers.mean())
    if excess(1.0) <= 0:
        return 1.0
    return own if excess(own) >= 0 else float(brentq(excess, own, 1.0))


def _bets(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the capital that is bet on each number, given the numbers before it."""
    seen = np.arange(2, len(numbers) + 2)
    mean = (0.5 + np.cumsum(numbers)) / seen
    variance = (0.25 + np.cumsum(np.square(numbers - mean))) / seen
    before = np.concatenate([[0.25], variance[:-1]])
    bets = np.sqrt(-2 * np.log(ERROR) / (len(numbers) * before))
    return np.asarray(np.minimum(bets, LARGEST_BET), dtype=np.float64)
