"""Transition matrices in closed form: what they promise, and the risk that they leave.

Throughout T[a, b] = P(released = b | true = a): rows sum to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError

Matrix = NDArray[np.float64]


def check_transition(matrix: Matrix) -> None:
    """Refuse what is no transition matrix.

    Raises
    ------
    ParameterError
    """
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ParameterError("A transition matrix must be square.")
    if (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0):
        raise ParameterError("Each row of a transition matrix must hold probabilities of sum 1.")


def privacy_epsilon(matrix: Matrix) -> tuple[float, NDArray[np.float64]]:
    """The epsilon of local differential privacy that a matrix gives each record.

    Parameters
    ----------
    matrix : ndarray of float64, shape (K, K)
        T; a released category that nobody can get plays no part.

    Returns
    -------
    epsilon : float
        Largest over released categories; infinite where an entry is 0 and another of its column
        is not, so that the release may exclude a category for certain.
    by_category : ndarray of float64, shape (K,)

    References
    ----------
    Dwork, McSherry, Nissim, Smith 2006; Shlomo and Skinner 2012 for misclassification matrices.
    """
    check_transition(matrix)
    top, low = matrix.max(axis=0), matrix.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(top == 0, 0.0, np.log(top) - np.log(low))
    return float(result.max()), result


def misclassification_risk(
    matrix: Matrix, population: NDArray[np.float64], fraction: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(the one sampled unit with a released category is a known person of that category).

    Parameters
    ----------
    matrix : ndarray of float64, shape (K, K)
        T.
    population : ndarray of float64, shape (K,)
        F, how many people have each true category.
    fraction : float
        Sampling fraction pi, from 0 to below 1.

    Returns
    -------
    exact, approximate : ndarray of float64, shape (K,)
        For a person of each category; the approximation M_jj / F~_j is for pi near 0.

    References
    ----------
    Shlomo and Skinner 2010.
    """
    check_transition(matrix)
    own = np.diagonal(matrix)
    expected = matrix.T @ population
    weighted = (matrix / (1 - fraction * matrix)).T @ population
    return (
        _ratio(own / (1 - fraction * own), weighted),
        _ratio(own, expected),
    )


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def keeping_odds(matrix: Matrix, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Odds that a released category is the true one; small is wanted for rare categories.

    Parameters
    ----------
    matrix : ndarray of float64, shape (K, K)
        T.
    shares : ndarray of float64, shape (K,)
        True shares of the categories.

    Returns
    -------
    ndarray of float64, shape (K,)
        Infinite where nobody else can get the category.
    """
    check_transition(matrix)
    kept = np.diagonal(matrix) * shares
    others = shares @ matrix - kept
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(kept == 0, 0.0, kept / others)


def disjoint_swaps(counts: NDArray[np.int64], swaps: int) -> Matrix:
    """Law of a category when disjoint random pairs of records exchange theirs.

    Parameters
    ----------
    counts : ndarray of int64, shape (K,)
        Records of each category.
    swaps : int
        Number of pairs, at most half the records.
    """
    n = int(counts.sum())
    if 2 * swaps > n:
        raise ParameterError("There are not enough records for that many disjoint pairs.")
    matrix = np.tile(
        2 * swaps * np.asarray(counts, dtype=np.float64) / (n * (n - 1)), (len(counts), 1)
    )
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, 1.0 - matrix.sum(axis=1))
    return matrix


def successive_swaps(counts: NDArray[np.int64], swaps: int) -> Matrix:
    """Law of a category after independent random pairs of records exchanged theirs, in turn.

    Parameters
    ----------
    counts : ndarray of int64, shape (K,)
    swaps : int
        Number of pairs; a record may be drawn again.
    """
    n = int(counts.sum())
    kept = (1.0 - 2.0 / (n - 1)) ** swaps
    shares = np.asarray(counts, dtype=np.float64) / n
    return kept * np.eye(len(counts)) + (1.0 - kept) * np.tile(shares, (len(counts), 1))


def merged_first(categories: int, merged: int) -> Matrix:
    """Recoding that merges the first categories into one: T, shape (categories, released)."""
    released = categories - merged + 1
    matrix = np.zeros((categories, released))
    for true in range(categories):
        matrix[true, max(0, true - merged + 1)] = 1.0
    return matrix
