"""Transition matrices in closed form: the risk that they leave, and recoding.

Throughout T[a, b] = P(released = b | true = a): rows sum to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.laws.transition_matrix import check_transition

Matrix = NDArray[np.float64]


def misclassification_risk(
    matrix: Matrix, population: NDArray[np.float64], fraction: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(the one sampled unit with a released category is a known person of that category).

    Exactly, and M_jj / F~_j for fractions near 0, by category (Shlomo and Skinner 2010).
    """
    check_transition(matrix)
    own = np.diagonal(matrix)
    expected = matrix.T @ population
    weighted = (matrix / (1 - fraction * matrix)).T @ population
    return (_ratio(own / (1 - fraction * own), weighted), _ratio(own, expected))


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def merged_first(categories: int, merged: int) -> Matrix:
    """Recoding that merges the first categories into one: T, shape (categories, released)."""
    released = categories - merged + 1
    matrix = np.zeros((categories, released))
    for true in range(categories):
        matrix[true, max(0, true - merged + 1)] = 1.0
    return matrix
