"""The expected mean of the released values that are not missing: exact, as an integral.

Sum and count of the known values are random together. With S their sum, N their count, p_i the
probability that record i shows a value and e_i what it adds to S in expectation,

    E[S / N; N > 0] = integral over t from 0 to 1 of the sum over i of e_i t^(N - 1)
                    = integral over u from 0 to 1 of
                      (sum of e_i / (1 - p_i u)) exp(sum of log(1 - p_i u)), u = 1 - t,

since records are independent. Both sums are added up block by block at a few values of u.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 2000  # records; beyond, the ratio of expectations is as good
_POINTS = 10  # of a Gauss-Legendre rule, between two powers of 1/2

Floats = NDArray[np.float64]


def depths(n: int) -> tuple[Floats, Floats]:
    """Values of u and the weights of the integral over them; the last is u = 1, without weight.

    Parameters
    ----------
    n : int
        Records: the integrand falls off within 1/n of 0.

    Returns
    -------
    points, weights : ndarray of float64, shape (T,)
        Empty for a table of more than `LARGEST_EXACT` records.
    """
    if n > LARGEST_EXACT:
        return np.empty(0), np.empty(0)
    place, weight = np.polynomial.legendre.leggauss(_POINTS)
    ends = np.append(0.0, 0.5 ** np.arange(math.ceil(math.log2(n)) + 2, -1, -1.0))
    half = np.diff(ends)[:, None] / 2
    points = (ends[:-1, None] + half + half * place).ravel()
    return np.append(points, 1.0), np.append((half * weight).ravel(), 0.0)


def parts(known: Floats, expected: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Both sums of the integrand over a block of records.

    Parameters
    ----------
    known, expected : ndarray of float64, shape (s, b, m)
        P(a cell shows a value), and what it adds to the sum of its column.
    points : ndarray of float64, shape (T,)

    Returns
    -------
    missing, added : ndarray of float64, shape (s, m, T)
        Sums of log(1 - p u) and of e / (1 - p u).
    """
    shape = (known.shape[0], known.shape[2], len(points))
    missing, added = np.empty(shape), np.empty(shape)
    with np.errstate(divide="ignore", invalid="ignore"):  # at u = 1, where a value is certain
        for number, point in enumerate(points):
            left = 1.0 - known * point
            missing[..., number] = np.log(left).sum(axis=1)
            added[..., number] = (expected / left).sum(axis=1)
    return missing, added


def mean_of_known(missing: Floats, added: Floats, weights: Floats) -> Floats:
    """The expected mean of columns, given that some value is known; NaN where none can be.

    Parameters
    ----------
    missing, added : ndarray of float64, shape (m, T)
        Over all records, from `parts`.
    weights : ndarray of float64, shape (T,)

    Returns
    -------
    ndarray of float64, shape (m,)
        Empty without points.
    """
    if not weights.size:
        return np.empty(0)
    some = -np.expm1(missing[:, -1])
    whole = (np.exp(missing[:, :-1]) * added[:, :-1]) @ weights[:-1]
    nothing = np.full(len(whole), np.nan)
    return np.asarray(np.divide(whole, some, out=nothing, where=some > 0))
