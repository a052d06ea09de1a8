"""Intervals: of a further draw, of a success rate, and of a risk beyond a control group."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, stdtrit

Z95 = 1.959963984540054
LEVEL = 0.9
"""Share of further draws that an interval should hold: 9 of 10, wherever the program says so."""
UNBOUNDED = (-math.inf, math.inf)


def prediction_interval(
    draws: ArrayLike, level: float = LEVEL, bounds: tuple[float, float] = UNBOUNDED
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the ends between which one more draw should fall, given some independent ones.

    Parameters
    ----------
    draws : array_like of float, shape (R, ...)
    level : float
        Share of further draws that should fall inside, above 0 and below 1.
    bounds : tuple of float
        Smallest and largest value that a draw can have; the ends are cut there, which leaves out
        nothing that can happen.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        Of R draws, the j-th smallest and the j-th largest, j = (R + 1) (1 - level) / 2 rounded
        down: these hold at least the share `level` for any distribution. Where R is too small for
        that (below 19 for 0.9), mean -+ t s sqrt(1 + 1/R) that would leave out half as many of
        normal values, (1 - level) / 2: so that of skewed and heavy-tailed ones about the share
        `level` is held, too. NaN for fewer than two draws, and where a draw has no number.

    References
    ----------
    Prediction intervals for a further observation: order statistics, and of a normal sample.

    Examples
    --------
    >>> low, high = prediction_interval([1.0, 2.0, 3.0])
    >>> round(float(low), 2), round(float(high), 2)
    (-2.97, 6.97)
    >>> low, high = prediction_interval(np.arange(39.0))
    >>> float(low), float(high)
    (1.0, 37.0)
    """
    values = np.asarray(draws, dtype=np.float64)
    count = len(values)
    if count < 2:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing.copy()
    rank = _rank(count, level)
    if rank >= 1:
        ordered = np.sort(values, axis=0)  # missing numbers come last
        missing = np.isnan(ordered[-1])
        low, high = (np.where(missing, np.nan, ordered[at]) for at in (rank - 1, -rank))
    else:
        low, high = _normal_interval(values, (1 + level) / 2)
    return np.clip(low, *bounds), np.clip(high, *bounds)


def _rank(count: int, level: float) -> int:
    """Which smallest and largest draw are the ends; 0 where there are too few for that."""
    return math.floor((count + 1) * (1 - level) / 2 + 1e-9)


def range_words(count: int) -> str:
    """Say what the interval of so many releases is; for whoever shows one.

    Examples
    --------
    >>> range_words(59)
    'range of 59 releases: 9 of 10 fall in it'
    >>> range_words(2)
    'range of only 2 releases, wide enough for skewed values; draw at least 19 to know it'
    >>> range_words(1)
    'one release, without a range'
    """
    if count < 2:
        return "one release, without a range"
    if _rank(count, LEVEL):
        return f"range of {count:,} releases: 9 of 10 fall in it"
    enough = next(each for each in itertools.count(count) if _rank(each, LEVEL))
    return (
        f"range of only {count} releases, wide enough for skewed values; draw at least {enough} "
        "to know it"
    )


def _normal_interval(
    values: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean -+ t s sqrt(1 + 1/R) along the first axis; equal draws give their own value."""
    count = len(values)
    with np.errstate(invalid="ignore", over="ignore"):  # an infinite draw has no spread
        apart = values - values[0]
        center = values[0] + apart.mean(axis=0)
        half_width = stdtrit(count - 1, (1 + level) / 2) * math.sqrt(1 + 1 / count)
        half_width = half_width * apart.std(axis=0, ddof=1)
        return center - half_width, center + half_width


def wilson(successes: float, attacks: int) -> tuple[float, float]:
    """Center and half-width of the 95 % Wilson score interval of a success rate.

    Parameters
    ----------
    successes : float
        From 0 to `attacks`.
    attacks : int
        At least 1.

    References
    ----------
    Wilson 1927; Giomi et al. 2023, section 5.
    """
    squared = Z95 * Z95
    rate = (successes + squared / 2) / (attacks + squared)
    spread = successes * (attacks - successes) / attacks + squared / 4
    return rate, Z95 / (attacks + squared) * math.sqrt(max(spread, 0.0))


def newcombe(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, float]:
    """Ends of the 95 % interval of the difference of two success rates, between -1 and 1.

    Parameters
    ----------
    one, other : (successes, attacks)
        Counted on different people. Where the same people are counted twice, equal answers make
        the true spread of the difference smaller and the interval holds more than it says.

    References
    ----------
    Newcombe 1998, method 10: from the Wilson intervals of both rates.

    Examples
    --------
    >>> low, high = newcombe((56, 70), (48, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    rates = [successes / attacks for successes, attacks in (one, other)]
    (center, half), (other_center, other_half) = wilson(*one), wilson(*other)
    below = math.hypot(rates[0] - (center - half), other_center + other_half - rates[1])
    above = math.hypot(center + half - rates[0], rates[1] - (other_center - other_half))
    gain = rates[0] - rates[1]
    return max(-1.0, gain - below), min(1.0, gain + above)


def share_interval(counts: ArrayLike, of: ArrayLike) -> NDArray[np.float64]:
    """Ends of the 95 % Wilson score interval of many shares, shape (..., 2).

    Parameters
    ----------
    counts, of : array_like of float, shape (...)
        From 0 to `of`; of nothing, everything from 0 to 1 is possible.

    Examples
    --------
    >>> share_interval([5, 0], [10, 0]).round(3).tolist()
    [[0.237, 0.763], [0.0, 1.0]]
    """
    successes, attacks = np.asarray(counts, dtype=np.float64), np.asarray(of, dtype=np.float64)
    squared = Z95 * Z95
    centre = (successes + squared / 2) / (attacks + squared)
    spread = successes * (attacks - successes) / np.maximum(attacks, 1) + squared / 4
    half = Z95 / (attacks + squared) * np.sqrt(np.maximum(spread, 0.0))
    return np.clip(np.stack((centre - half, centre + half), axis=-1), 0.0, 1.0)


def exact_interval(count: int, of: int) -> tuple[float, float]:
    """Both ends of the exact 95 % interval of a share.

    Parameters
    ----------
    count, of : int
        So many of `of` random ones, at least 1.

    References
    ----------
    Clopper and Pearson 1934.

    Examples
    --------
    >>> low, high = exact_interval(0, 400)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.0092)
    """
    low = betaincinv(count, of - count + 1, 0.025) if count else 0.0
    high = betaincinv(count + 1, of - count, 0.975) if count < of else 1.0
    return float(low), float(high)


def excess_risk(attack: tuple[float, float], control: tuple[float, float]) -> tuple[float, float]:
    """Risk beyond a control group, (r - c) / (1 - c), with its half-width; not cut.

    Parameters
    ----------
    attack, control : tuple of float
        Rate and half-width.

    References
    ----------
    Giomi et al. 2023, section 5; errors by propagation.
    """
    rate, error = attack
    other, other_error = control
    if other >= 1:
        return 0.0, 1.0
    risk = (rate - other) / (1 - other)
    return risk, math.hypot(error / (1 - other), other_error * (rate - 1) / (1 - other) ** 2)


def excess_interval(
    attack: tuple[float, float, float], control: tuple[float, float, float]
) -> tuple[float, float]:
    """Interval of the risk beyond a control group, from those of the two success rates.

    Parameters
    ----------
    attack, control : tuple of float
        Rate, low and high end, all from 0 to 1.

    Returns
    -------
    low, high : float
        Of 1 - (1 - r) / (1 - c), at most 1; it holds 0 exactly where Newcombe's interval of the
        difference of the rates does. Where a rate of 1 of the control group cannot be excluded,
        the low end is minus infinity.

    References
    ----------
    Newcombe 1998 (method 10); Donner and Zou 2012 for the ratio (MOVER).

    Examples
    --------
    >>> low, high = excess_interval((0.5, 0.4, 0.6), (0.2, 0.13, 0.29))
    >>> round(low, 2), round(high, 2)
    (0.22, 0.51)
    """
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
