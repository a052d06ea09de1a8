"""Intervals of a further draw, a success rate, a risk beyond a control group; scores of names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, stdtrit

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.measures.measure import UNBOUNDED, Bounds

Z95 = 1.959963984540054
LEVEL = 0.9
"""Share of further draws that an interval should hold: 9 of 10, wherever the program says so."""


def prediction_interval(draws: ArrayLike, bounds: Bounds = UNBOUNDED) -> tuple[Floats, Floats]:
    """Return the ends between which 9 of 10 further draws fall, shape (...)."""
    # `draws` has shape (R, ...). Order statistics j and R + 1 - j with j = (R + 1) (1 - LEVEL) / 2,
    # valid for any distribution; for R too small, mean -+ t s sqrt(1 + 1/R) with half the tails,
    # which about holds for skewed values. Cut at `bounds`; NaN for R < 2.
    values = np.asarray(draws, dtype=np.float64)
    count = len(values)
    if count < 2:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing.copy()
    rank = _rank(count)
    if rank >= 1:
        ordered = np.sort(values, axis=0)  # missing numbers come last
        missing = np.isnan(ordered[-1])
        low, high = (np.where(missing, np.nan, ordered[at]) for at in (rank - 1, -rank))
    else:
        # mean -+ t s sqrt(1 + 1/R), with half the tails; equal draws give their own value
        with np.errstate(invalid="ignore", over="ignore"):  # an infinite draw has no spread
            apart = values - values[0]
            center = values[0] + apart.mean(axis=0)
            half_width = stdtrit(count - 1, (1 + (1 + LEVEL) / 2) / 2) * math.sqrt(1 + 1 / count)
            half_width = half_width * apart.std(axis=0, ddof=1)
            low, high = center - half_width, center + half_width
    return np.clip(low, *bounds), np.clip(high, *bounds)


def _rank(count: int) -> int:
    """Return the rank of the order statistics that are the ends; 0 for too few draws."""
    return math.floor((count + 1) * (1 - LEVEL) / 2 + 1e-9)


def range_words(count: int) -> str:
    """Say what the interval of `count` releases is."""
    if count < 2:
        return "one release, without a range"
    if _rank(count):
        return f"range of {count:,} releases: 9 of 10 fall in it"
    enough = next(each for each in itertools.count(count) if _rank(each))
    return (
        f"range of only {count} releases, wide enough for skewed values; draw at least {enough} "
        "to know it"
    )


def t95(freedom: float) -> float:
    """Return the standard errors between an estimate and an end of its 95 % interval.

    Of Student's t for the residual degrees of freedom of a least squares fit; `math.inf` for a
    model fitted by likelihood, the normal 1.96.
    """
    return float(stdtrit(freedom, 0.975))


def wilson(successes: ArrayLike, attacks: ArrayLike) -> tuple[Floats, Floats]:
    """Return center and half-width of the 95 % Wilson score interval (1927) of success rates."""
    right, total = np.asarray(successes, np.float64), np.asarray(attacks, np.float64)
    squared = Z95 * Z95
    spread = np.maximum(right * (total - right) / np.maximum(total, 1) + squared / 4, 0.0)
    # squared inside the root, so that an interval of no success begins at 0 to the last digit
    return (right + squared / 2) / (total + squared), np.sqrt(squared * spread) / (total + squared)


def wilson_interval(successes: float, attacks: int) -> tuple[float, float]:
    """Return the ends of the Wilson score interval, within [0, 1]."""
    low, high = share_interval(successes, attacks).tolist()
    return low, high


def newcombe(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, float]:
    """Return the 95 % interval of a difference of success rates (Newcombe 1998, method 10)."""
    # Each rate is (successes, attacks). For the same people counted twice it is conservative.
    rates = [successes / attacks for successes, attacks in (one, other)]
    (center, half), (other_center, other_half) = wilson(*one), wilson(*other)
    below = math.hypot(rates[0] - (center - half), other_center + other_half - rates[1])
    above = math.hypot(center + half - rates[0], rates[1] - (other_center - other_half))
    gain = rates[0] - rates[1]
    return max(-1.0, gain - below), min(1.0, gain + above)


def share_interval(counts: ArrayLike, total: ArrayLike) -> Floats:
    """Return the 95 % Wilson score intervals of many shares, shape (..., 2); [0, 1] for none."""
    center, half = wilson(counts, total)
    return np.clip(np.stack((center - half, center + half), axis=-1), 0.0, 1.0)


def exact_interval(count: int, total: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share (Clopper and Pearson 1934)."""
    low = betaincinv(count, total - count + 1, 0.025) if count else 0.0
    high = betaincinv(count + 1, total - count, 0.975) if count < total else 1.0
    return float(low), float(high)


def excess_risk(rate: float, other: float) -> float:
    """Return the risk beyond a control group, (r - c) / (1 - c), of two rates (Abbott 1925)."""
    return (rate - other) / (1 - other) if other < 1 else 0.0


def excess_interval(
    attack: tuple[float, float, float], control: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the interval of 1 - (1 - r) / (1 - c) from those of both success rates."""
    # Each argument is (rate, low, high). It holds 0 exactly if Newcombe's interval of the
    # difference does (Donner and Zou 2012, MOVER). The low end is -inf if a control rate of 1 is
    # possible.
    missed, other = 1 - attack[0], 1 - control[0]
    (least, most), (few, many) = (1 - attack[2], 1 - attack[1]), (1 - control[2], 1 - control[1])
    product = missed * other
    inner = product**2 - least * many * (2 * missed - least) * (2 * other - many)
    smallest = _quotient(least * (2 * missed - least), product + math.sqrt(max(0.0, inner)), 0.0)
    inner = product**2 - most * few * (2 * missed - most) * (2 * other - few)
    largest = _quotient(product + math.sqrt(max(0.0, inner)), few * (2 * other - few), math.inf)
    return 1 - largest, 1 - smallest


def _quotient(top: float, bottom: float, otherwise: float) -> float:
    return top / bottom if bottom > 0 else otherwise


ERROR = 0.025  # that the mean is larger: one end of a 95 % interval
LARGEST_BET = 0.75  # of the capital: a single number takes no more
_SEED = 20240201  # of the order: fixed, so that a number changes only with the sample


def mean_interval(sample: Floats, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of `total` numbers, given a random sample."""
    return 1 - mean_at_most(1 - sample, total), mean_at_most(sample, total)


def mean_at_most(sample: Floats, total: int) -> float:
    """Return the upper 97.5 % confidence limit of the mean of `total` numbers, by betting."""
    # Shapes: sample (m,), of numbers from 0 to 1.
    # Waudby-Smith and Ramdas 2024 (JRSS B 86), sections 3 and 4: the capital of a bettor against
    # the mean m grows 40-fold with probability 1/40 if m is true. The limit is the smallest m that
    # this excludes.
    from scipy.optimize import brentq

    numbers = np.random.default_rng(_SEED).permutation(sample)
    # the share of the capital that is bet on each number, given the numbers before it, (m,)
    seen = np.arange(2, len(numbers) + 2)
    means = (0.5 + np.cumsum(numbers)) / seen
    variance = (0.25 + np.cumsum(np.square(numbers - means))) / seen
    before = np.concatenate([[0.25], variance[:-1]])
    bets = np.minimum(np.sqrt(-2 * np.log(ERROR) / (len(numbers) * before)), LARGEST_BET)
    taken = np.cumsum(numbers) - numbers
    left = total - np.arange(len(numbers))

    def excess(mean: float) -> float:
        """Return the log capital beyond the level that excludes a mean."""
        expected = (total * mean - taken) / left
        return float(np.log1p(bets * (expected - numbers)).sum() + np.log(ERROR))

    own = float(numbers.mean())
    if excess(1.0) <= 0:
        return 1.0
    return own if excess(own) >= 0 else float(brentq(excess, own, 1.0))


CHANCE = 0.01  # that any of the names that are compared is beyond luck where none is
LUCK = 0.025  # chance that the true precision lies below the bound that counts


def naming_score(
    right: ArrayLike,
    named: ArrayLike,
    people: ArrayLike,
    base: ArrayLike,
    independent: ArrayLike = 1.0,
) -> Floats:
    """Score an attack that names a value: recall x (lower - base) / (1 - base), from 0 to recall.

    `people` have the value; `base` is the precision of naming it of random people. Naming the
    majority of all people scores 0.

    >>> naming_score(10, 10, 13, 13 / 600).round(3).item()
    0.527
    >>> naming_score(570, 600, 570, 0.95).item()
    0.0
    """
    # Shapes: all broadcast together, and the answer has the same shape as their broadcast.
    # independent: share of the names that are; names by one released row are one in this respect
    # lower: one-sided 97.5 % bound of Clopper and Pearson for the precision right / named, so that
    # a few lucky names do not count
    r, n, p, b, f = np.broadcast_arrays(
        *[np.asarray(x, np.float64) for x in (right, named, people, base, independent)]
    )
    score = np.zeros(r.shape)
    some = (r > 0) & (n > 0) & (p > 0) & (b < 1)
    r, n, p, b, f = [each[some] for each in (r, n, p, b, f)]
    low = betaincinv(r * f, np.maximum(n - r, 0.0) * f + 1, LUCK)
    score[some] = r / p * np.maximum((low - b) / (1 - b), 0.0)
    return score


def beyond_luck(right: Floats, named: Floats, base: Floats) -> Booleans:
    """The marks of counts of right names that chance gives with less than 1 % over all counts."""
    # Shapes: all broadcast together, and the answer has the same shape as their broadcast.
    luck = betainc(
        np.maximum(right, 1.0), np.maximum(named - right, 0.0) + 1, np.minimum(base, 1.0)
    )
    return np.asarray(luck <= CHANCE / max(int((named > 0).sum()), 1), dtype=bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """The band of one part of a detail; arrays have the shape of one draw."""

    # low, median, high: NaN where a draw has no number
    low: Floats
    median: Floats
    high: Floats

    @classmethod
    def from_draws(cls, draws: Sequence[Any], bounds: Bounds = UNBOUNDED) -> Band:
        """Return the interval of one more draw, given some.

        >>> band = Band.from_draws([[float(draw)] for draw in range(39)])
        >>> band.low.tolist(), band.median.tolist(), band.high.tolist()
        ([1.0], [19.0], [37.0])
        """
        values = np.asarray(draws, dtype=np.float64)
        low, high = prediction_interval(values, bounds)
        return cls(low=low, median=np.asarray(np.median(values, axis=0)), high=high)

    def outside(self, values: Floats) -> Booleans:
        """Which values lie beyond the band; a missing number lies nowhere."""
        # Shapes: values and the answer have the same shape as one draw.
        return np.asarray((values < self.low) | (values > self.high))
