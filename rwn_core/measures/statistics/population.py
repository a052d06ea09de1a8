"""Risk of a sample with respect to its population: frequencies of combinations of key values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp2f1

from rwn_core.measures.statistics.population_uniques import PitmanLaw

LARGEST_EXACT = 30  # sample frequencies whose risk is computed by the exact formula


def probability_unique(rate: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """Return P(F = 1 | f = 1) for population means `rate` (Skinner and Shlomo 2008)."""
    return np.exp(-(1.0 - fraction) * rate)


def expected_inverse(rate: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """Return E(1/F | f = 1) for population means `rate`."""
    exponent = (1.0 - fraction) * np.asarray(rate, dtype=np.float64)
    safe = np.where(exponent > 0, exponent, 1.0)
    return np.where(exponent > 0, -np.expm1(-safe) / safe, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRisk:
    """File-level risk of a log-linear model.

    Attributes
    ----------
    tau1 : float
        Expected number of sample uniques that are population uniques.
    tau2 : float
        Expected number of right matches when every sample unique is matched.
    check1, check2 : float
        B for tau1 and tau2: above 0 the model is too simple and the risk overestimated.
    uniques : int
        Number of sample uniques.
    """

    tau1: float
    tau2: float
    check1: float
    check2: float
    uniques: int


def file_risk(counts: NDArray[np.float64], means: NDArray[np.float64], fraction: float) -> FileRisk:
    """Return the file-level risk from counts and fitted means of all key cells, shape (K,)."""
    # Skinner and Shlomo 2008; the check B by Taylor expansion of the risk in f.
    rate = np.maximum(means, 1e-300) / fraction
    alone = counts == 1
    return FileRisk(
        tau1=float(probability_unique(rate[alone], fraction).sum()),
        tau2=float(expected_inverse(rate[alone], fraction).sum()),
        check1=_check(counts, rate, fraction, *_slopes1(rate, fraction)),
        check2=_check(counts, rate, fraction, *_slopes2(rate, fraction)),
        uniques=int(alone.sum()),
    )


def _check(
    counts: NDArray[np.float64],
    rate: NDArray[np.float64],
    fraction: float,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> float:
    """Return the sum of pi lambda e^(-pi lambda) (-h' d / pi + h'' (d^2 - f) / (2 pi^2))."""
    deviation = counts - fraction * rate
    term = -first * deviation / fraction
    term += second * (deviation**2 - counts) / (2 * fraction**2)
    return float((fraction * rate * np.exp(-fraction * rate) * term).sum())


def _slopes1(
    rate: NDArray[np.float64], fraction: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    c = 1.0 - fraction
    value = np.exp(-c * rate)
    return -c * value, c**2 * value


def _slopes2(
    rate: NDArray[np.float64], fraction: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both derivatives of (1 - e^-m) / m, m = c lambda; by series if m is small."""
    c = 1.0 - fraction
    m = c * rate
    small = m < 1e-2
    safe = np.where(small, 1.0, m)
    first = (np.exp(-safe) * (safe + 1) - 1) / safe**2
    second = (2 - np.exp(-safe) * (safe**2 + 2 * safe + 2)) / safe**3
    first = np.where(small, -0.5 + m / 3 - m**2 / 8, first)
    second = np.where(small, 1 / 3 - m / 4 + m**2 / 10, second)
    return c * first, c**2 * second


def individual_risk(
    frequencies: NDArray[np.int64], population: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return E(1/F | f) of each record by Benedetti and Franconi (1998), shape (n,)."""
    # `population` is the sum of the sampling weights of the record's class.
    f = np.asarray(frequencies, dtype=np.float64)
    return _mean_inverse(f, f, np.clip(f / np.maximum(population, f), 1e-12, 1.0))


def fitted_risk(
    frequencies: NDArray[np.int64], population: NDArray[np.float64], law: PitmanLaw
) -> NDArray[np.float64]:
    """Return E(1/F | f) under Pitman's sampling formula (Pitman 1995; Hoshino 2001), shape (n,)."""
    # Given f of n records, F - f of N - n further people is beta-binomial (f - alpha, theta + n - f
    # + alpha), close to negative binomial. At alpha = theta = 0 this is the law of Benedetti and
    # Franconi. N is n times the class's mean weight.
    f = np.asarray(frequencies, dtype=np.float64)
    n = float(len(f))
    further = n * np.maximum(population / f - 1, 0.0)
    others = np.maximum(law.theta + n - f + law.alpha, 1e-9)
    return _mean_inverse(f, f - law.alpha, others / (others + further))


def _mean_inverse(
    f: NDArray[np.float64], a: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return E(1 / (f + X)), X negative binomial with size a and success probability p."""
    risk = p / np.maximum(a - (1 - p), 1e-300)  # large f: as sdcMicro and mu-Argus
    some = (f <= LARGEST_EXACT) & (p < 1) & (p > 1e-4) & (f > 1)
    risk[some] = p[some] ** a[some] / f[some] * hyp2f1(a[some], f[some], f[some] + 1, 1 - p[some])
    single = (f == 1) & (p < 1)
    gap, odds = 1 - a[single], p[single]  # the limit of a small gap is -log(p)
    log = -np.log(odds)
    grown = np.divide(-np.expm1(-gap * log), gap, out=log.copy(), where=gap > 1e-9)
    risk[single] = odds ** a[single] * grown / (1 - odds)
    risk[(p >= 1) | (a <= 0)] = 1 / f[(p >= 1) | (a <= 0)]
    return np.clip(risk, 0.0, 1 / f)
