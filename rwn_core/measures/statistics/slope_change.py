"""Change of coefficients between an original and its release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIGNIFICANT = 2.0  # standard errors of the original from 0, from which on its sign counts


def standardized_difference(
    before: NDArray[np.float64], after: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Change of each coefficient in standard errors of the original.

    Parameters
    ----------
    before, after : ndarray of float64, shape (t,)
        Coefficients of the original and of the release.
    error : ndarray of float64, shape (t,)
        Standard errors of the original, above 0.

    Returns
    -------
    ndarray of float64, shape (t,)
        At least 0.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter, Sanil 2006; Perry, Matloff, Tendick 2022, section 8.
    """
    return np.abs(after - before) / error


def turned(
    before: NDArray[np.float64], after: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """True for each coefficient that changed its sign, if the original's sign is beyond chance."""
    return (np.sign(before) * np.sign(after) < 0) & (np.abs(before) > SIGNIFICANT * error)
