"""Change of coefficients between an original and its release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIGNIFICANT = 2.0  # standard errors of the original from 0, from which on its sign counts


def standardized_difference(
    before: NDArray[np.float64], after: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the change of each coefficient in standard errors of the original, shape (t,)."""
    return np.abs(after - before) / error


def turned(
    before: NDArray[np.float64], after: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return True for coefficients that changed a sign that was significant in the original."""
    return (np.sign(before) * np.sign(after) < 0) & (np.abs(before) > SIGNIFICANT * error)
