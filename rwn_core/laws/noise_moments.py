"""Mean and variance of a noisy number that is rounded to an integer, or without its sign."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

FAR = 40.0  # standard deviations beyond which no noise has a weight that counts
LARGEST = 100_000  # integers that are added up; of wider noise, rounding adds 1/12


def discrete_variance(below: Callable[[Floats], Floats], sd: float) -> float:
    """Variance of noise that is rounded to integers.

    Parameters
    ----------
    below : callable
        P(the noise is at most so much), symmetric around 0.
    sd : float
        Its standard deviation.
    """
    if sd * FAR > LARGEST:
        return sd**2 + 1 / 12
    steps = np.arange(1, np.ceil(sd * FAR) + 2)
    # E[k^2] = sum over k of (2 k - 1) P(|K| >= k)
    return float(2 * ((2 * steps - 1) * below(0.5 - steps)).sum())


def shortfall(
    shape: str, sd: float, below: Callable[[Floats], Floats], own: Floats, *, discrete: bool
) -> Floats:
    """How much below 0 a noisy number is expected to be, E[max(0, -own - noise)].

    Parameters
    ----------
    shape : {"gaussian", "laplace", "uniform"}
    sd : float
    below : callable
        P(the noise is at most so much).
    own : ndarray of float64, shape (n,)
        At least 0; integers where `discrete`.
    discrete : bool
        Whether noisy numbers are rounded to integers.
    """
    if discrete and sd * FAR <= LARGEST:
        steps = np.arange(1, np.ceil(sd * FAR) + 2)
        tails = np.append(np.cumsum(below(0.5 - steps)[::-1])[::-1], 0.0)
        return np.asarray(tails[np.minimum(own, len(steps)).astype(np.int64)])
    if shape == "gaussian":
        at = own / sd
        return np.asarray(
            sd * np.exp(-0.5 * at * at) / np.sqrt(2 * np.pi) - own * ndtr(-at), np.float64
        )
    if shape == "laplace":
        scale = sd / np.sqrt(2)
        return np.asarray(scale / 2 * np.exp(-own / scale))
    half = sd * np.sqrt(3)
    return np.asarray(np.maximum(half - own, 0.0) ** 2 / (4 * half))
