"""Risk of a sample with respect to its population: frequencies of combinations of key values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import hyp2f1

from rwn_core.data.arrays import Floats, Integers
from rwn_core.measures.measure import Detail, Sides

_NOBODY: Sides[float] = Sides(0.0, 0.0)
_NO_RECORD: Sides[Floats] = Sides(np.zeros(0), np.zeros(0))

LARGEST_EXACT = 30  # largest sample frequency with a risk by the exact formula


def probability_unique(rate: Floats, fraction: float) -> Floats:
    """Return P(F = 1 | f = 1) for population means `rate` (Skinner and Shlomo 2008)."""
    # Shapes: rate, the answer (m,).
    return np.exp(-(1.0 - fraction) * rate)


def expected_inverse(rate: Floats, fraction: float) -> Floats:
    """Return E(1/F | f = 1) for population means `rate`."""
    # Shapes: rate, the answer (m,).
    exponent = (1.0 - fraction) * np.asarray(rate, dtype=np.float64)
    safe = np.where(exponent > 0, exponent, 1.0)
    return np.where(exponent > 0, -np.expm1(-safe) / safe, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PopulationRisk(Detail):
    """The details of a risk in the population; a measure fills what it estimates.

    Attributes
    ----------
    names : sequence of str
        The keys.
    population : float
        Number of people.
    uniques : Sides of int
        Records that are alone with their key values.
    expected, alone : Sides of float
        Expected right matches, and records of `uniques` that are alone in the population.
    risk : Sides of ndarray of float64, shape (n,)
        Probability that a match with a record is right.
    largest : Sides of float
        Of a record.
    older : Sides of float
        Expected right matches by Benedetti and Franconi (1998).
    independent, left_out : sequence of str
        Keys that a log-linear model takes as independent of the others; and keys of one level.
    cells : int
        Cells of that model.
    model : str
        Interactions of the released counts' model, such as "age × sex".
    of_names : float
        Right matches that it expects by the keys in `names` alone.
    check, z : float
        Its check B of tau2, and that in standard deviations; above 2 it is too simple.
    """

    population: float
    uniques: Sides[int]
    expected: Sides[float] = _NOBODY
    alone: Sides[float] = _NOBODY
    risk: Sides[Floats] = _NO_RECORD
    largest: Sides[float] = _NOBODY
    older: Sides[float] = _NOBODY
    independent: Sequence[str] = ()
    left_out: Sequence[str] = ()
    cells: int = 0
    model: str = ""
    of_names: float = 0.0
    check: float = 0.0
    z: float = 0.0


def file_risk(counts: Floats, means: Floats, fraction: float) -> tuple[float, float]:
    """Return tau2, the right matches expected if every sample unique is matched, and its check B.

    From counts and fitted means of all key cells, shape (K,). With B above 0 the model is too
    simple and the risk overestimated.
    """
    # Skinner and Shlomo 2008; B by Taylor expansion of the risk in f: the sum of
    # pi lambda e^(-pi lambda) (-h' d / pi + h'' (d^2 - f) / (2 pi^2))
    rate = np.maximum(means, 1e-300) / fraction
    first, second = slopes_of_inverse(rate, fraction)
    deviation = counts - fraction * rate
    term = -first * deviation / fraction
    term += second * (deviation**2 - counts) / (2 * fraction**2)
    check = float((fraction * rate * np.exp(-fraction * rate) * term).sum())
    return float(expected_inverse(rate[counts == 1], fraction).sum()), check


def slopes_of_inverse(rate: Floats, fraction: float) -> tuple[Floats, Floats]:
    """Return both derivatives of (1 - e^-m) / m, m = c lambda; by series if m is small."""
    # Shapes: rate, both answers (m,).
    c = 1.0 - fraction
    m = c * rate
    small = m < 1e-2
    safe = np.where(small, 1.0, m)
    first = (np.exp(-safe) * (safe + 1) - 1) / safe**2
    second = (2 - np.exp(-safe) * (safe**2 + 2 * safe + 2)) / safe**3
    first = np.where(small, -0.5 + m / 3 - m**2 / 8, first)
    second = np.where(small, 1 / 3 - m / 4 + m**2 / 10, second)
    return c * first, c**2 * second


def individual_risk(frequencies: Integers, population: Floats) -> Floats:
    """Return E(1/F | f) of each record by Benedetti and Franconi (1998), shape (n,)."""
    # `population` is the sum of the sampling weights of the record's class.
    f = np.asarray(frequencies, dtype=np.float64)
    return _mean_inverse(f, f, np.clip(f / np.maximum(population, f), 1e-12, 1.0))


def fitted_risk(
    frequencies: Integers, population: Floats, law: PitmanLaw, people: float | None = None
) -> Floats:
    """Return E(1/F | f) under Pitman's sampling formula (Pitman 1995; Hoshino 2001), shape (n,)."""
    # Given f of n records, F - f of N - n further people is beta-binomial (f - alpha, theta + n - f
    # + alpha), close to negative binomial. At alpha = theta = 0 this is the law of Benedetti and
    # Franconi. N is n times the class's mean weight; n is `people` where they have several records.
    f = np.asarray(frequencies, dtype=np.float64)
    n = float(len(f)) if people is None else people
    further = n * np.maximum(population / f - 1, 0.0)
    others = np.maximum(law.theta + n - f + law.alpha, 1e-9)
    return _mean_inverse(f, f - law.alpha, others / (others + further))


def _mean_inverse(f: Floats, a: Floats, p: Floats) -> Floats:
    """Return E(1 / (f + X)), X negative binomial with size a and success probability p."""
    # Shapes: f, a, p, the answer (m,).
    risk = p / np.maximum(a - (1 - p), 1e-300)  # large f: as sdcMicro and mu-Argus
    some = (f <= LARGEST_EXACT) & (p < 1) & (p > 1e-4) & (f > 1)
    risk[some] = p[some] ** a[some] / f[some] * hyp2f1(a[some], f[some], f[some] + 1, 1 - p[some])
    single = (f == 1) & (p < 1)
    # the limit of a small gap is -log(p)
    gap = 1 - a[single]
    odds = p[single]
    log = -np.log(odds)
    grown = np.divide(-np.expm1(-gap * log), gap, out=log.copy(), where=gap > 1e-9)
    risk[single] = odds ** a[single] * grown / (1 - odds)
    risk[(p >= 1) | (a <= 0)] = 1 / f[(p >= 1) | (a <= 0)]
    return np.clip(risk, 0.0, 1 / f)


_ALPHA, _SHIFT = (1e-4, 1 - 1e-6), (-15.0, 30.0)  # bounds of alpha and log(theta + alpha)
_GRID = 30  # values of alpha, half of those of theta, of which a range is made
_REFUTED = 1.92  # log-likelihoods below the best: 5 % of one parameter


class PitmanLaw(NamedTuple):
    """The parameters of Pitman's sampling formula, fitted to the classes of a sample."""

    alpha: float  # from 0 to 1; 1 where every record is alone, so that every further one is, too
    theta: float  # above -alpha

    def alone(self, n: int, population: float) -> float:
        """Return P(a sample unique among n records is a population unique)."""
        # The next person after m has these values with probability (1 - alpha) / (theta + m): the
        # product of the complements from m = n to the population's size.
        from scipy.special import betaln

        if self.alpha >= 1:
            return 1.0
        gap = 1 - self.alpha  # a ratio of gamma functions, as betas: theta may be very large
        last, first = self.theta + population - gap, self.theta + n - gap
        return float(np.clip(np.exp(betaln(last, gap) - betaln(first, gap)), 0.0, 1.0))


def pitman_law(sizes: Integers) -> PitmanLaw:
    """Fit Pitman's sampling formula to class sizes by maximum likelihood."""
    from scipy.optimize import minimize

    n, ones = int(sizes.sum()), int((sizes == 1).sum())
    if ones == n:
        return PitmanLaw(1.0, float(n))
    fits = [
        minimize(_pitman_misfit, start, (sizes,), "L-BFGS-B", bounds=[_ALPHA, _SHIFT])
        for start in product((0.1, 0.5, 0.9), (0.0, np.log(n)))
    ]
    alpha, shift = min(fits, key=lambda fit: float(fit.fun)).x
    return PitmanLaw(float(alpha), float(np.exp(shift) - alpha))


def pitman_range(sizes: Integers, population: float) -> tuple[float, float]:
    """Return the smallest and largest `pitman` of all laws within the 95 % likelihood region."""
    n, ones = int(sizes.sum()), int((sizes == 1).sum())
    if not ones:
        return 0.0, 0.0
    best = pitman_law(sizes)
    laws, misfits = [], []
    for alpha in np.linspace(_ALPHA[0], _ALPHA[1], _GRID):
        for shift in np.linspace(-5.0, 2 * np.log(n) + 5, 2 * _GRID):
            laws.append(PitmanLaw(float(alpha), float(np.exp(shift) - alpha)))
            misfits.append(_pitman_misfit(np.array([alpha, shift]), sizes))
    least = min(misfits)
    if best.alpha < 1:
        at = np.array([best.alpha, np.log(best.theta + best.alpha)])
        least = min(least, _pitman_misfit(at, sizes))
    shares = [
        law.alone(n, population)
        for law, misfit in zip(laws, misfits, strict=True)
        if misfit <= least + _REFUTED
    ]
    shares.append(best.alone(n, population))
    return min(shares), max(shares)


def pitman(sizes: Integers, population: float) -> float:
    """Return the share of sample uniques that are population uniques by Pitman's formula."""
    # Fit: Hoshino 2001. Hoshino's expected number Gamma(theta + 1) / Gamma(theta + alpha) N^alpha
    # is the limit of large N and too high unless theta is small compared with N.
    n, ones = int(sizes.sum()), int((sizes == 1).sum())
    if ones in (0, n):
        return float(ones > 0)
    return pitman_law(sizes).alone(n, population)


def _pitman_misfit(at: Floats, sizes: Integers) -> float:
    """Return minus the log-likelihood at alpha and log(theta + alpha)."""
    # Shapes: at (2,); sizes (c,), of all classes.
    from scipy.special import betaln, gammaln

    alpha = at[0]
    theta = np.exp(at[1]) - at[0]
    n = sizes.sum()
    classes = len(sizes)
    # ratios of gamma functions, as betas: of a very large theta differences would be noise
    drawn = 0.0
    new = (classes - 1) * np.log(alpha)
    if n > 1:
        drawn = gammaln(n - 1) - betaln(theta + 1, n - 1)
    if classes > 1:
        new += gammaln(classes - 1) - betaln(theta / alpha + 1, classes - 1)
    different, counts = np.unique(sizes, return_counts=True)
    again = counts @ (gammaln(different - alpha) - gammaln(1 - alpha))
    return float(drawn - new - again)
