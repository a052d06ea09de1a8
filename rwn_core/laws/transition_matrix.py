"""Transition matrices of categories: what they promise, and what can be undone.

Throughout T[a, b] = P(released = b | true = a): rows sum to 1.
"""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import ParameterError

Matrix = Floats

CLOSE = 1e-9  # what a sum of probabilities may differ from 1 by
LARGEST_CONDITION = 1e12  # of a matrix that counts as having an inverse


def check_transition(matrix: Matrix) -> None:
    """Refuse what is no transition matrix."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ParameterError("A transition matrix must be square.")
    if not np.all(matrix >= 0) or not np.allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=CLOSE):
        raise ParameterError(
            "Each row of a transition matrix must hold probabilities whose sum is 1."
        )


def privacy_epsilon(matrix: Matrix) -> tuple[float, Floats]:
    """Return the epsilon of local differential privacy: the largest, and by category, shape (K,).

    T, or some of its rows, shape (a, K). Infinite where an entry is 0 and another of its column is
    not. Dwork, McSherry, Nissim, Smith 2006; Shlomo and Skinner 2012.
    """
    top = matrix.max(axis=0)
    low = matrix.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(top == 0, 0.0, np.log(top) - np.log(low))
    return float(found.max()), found


def disjoint_share(swaps: int, n: int) -> float:
    """The c of T = (1 - c) I + c 1 v' where disjoint random pairs of n records exchange values."""
    if 2 * swaps > n:
        raise ParameterError("There are not enough records for that many disjoint pairs.")
    return 2 * swaps / (n - 1) if swaps else 0.0


def successive_share(swaps: int, n: int) -> float:
    """The c of T = (1 - c) I + c 1 v' after random pairs of n records exchanged values in turn."""
    return float(1 - (1 - 2 / (n - 1)) ** swaps) if swaps else 0.0


def mixed_matrix(share: float, shares: Floats) -> Matrix:
    """T = (1 - c) I + c 1 v', shape (K, K)."""
    return np.asarray((1 - share) * np.eye(len(shares)) + share * shares)


def second_stage(matrix: Matrix, shares: Floats) -> Matrix:
    """Return the matrix Q for which T Q keeps the shares v, shape (K, K)."""
    # Q[k, j] = T[j, k] v_j / (v T)_k, the posterior of the true category (Kooiman, Willenborg,
    # Gouweleeuw 1997); the row of the identity where no record gets category k.
    released = shares @ matrix
    joint = (matrix * shares[:, np.newaxis]).T
    possible = np.where(released > 0, released, 1.0)[:, np.newaxis]
    return np.where(released[:, np.newaxis] > 0, joint / possible, np.eye(len(shares)))


def invariant(matrix: Matrix, shares: Floats) -> Matrix:
    """The matrix R = T Q of the two stages, for which v R = v."""
    return matrix @ second_stage(matrix, shares)


def is_singular(matrix: Matrix) -> bool:
    """True if the matrix has no inverse: true counts have no unbiased estimate."""
    return bool(np.linalg.cond(matrix) > LARGEST_CONDITION)
