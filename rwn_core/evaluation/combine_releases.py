"""Several releases of one table: one estimate from all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """One estimate from several releases of the same table.

    Attributes
    ----------
    estimate : float
    within : float
        Mean of the releases' squared standard errors.
    between : float
        Variance of the releases' estimates, divisor M - 1.
    variance : float
        within + between / M.
    degrees : float
        Of freedom of its t distribution; infinite where the estimates are equal.
    """

    estimate: float
    within: float
    between: float
    variance: float
    degrees: float


def combine_releases(estimates: Floats, variances: Floats) -> Combined:
    """Combine one estimate over M releases of the same table.

    An approximation: a masking is not a draw from a posterior. Publishing several releases also
    multiplies what an intruder learns; one release with its variance inflation is safer.

    Parameters
    ----------
    estimates, variances : ndarray of float64, shape (M,)
        M at least 2; variances are squared standard errors, above 0.

    Returns
    -------
    Combined

    Raises
    ------
    ParameterError

    References
    ----------
    Reiter 2003, partially synthetic data.

    Examples
    --------
    >>> combined = combine_releases(np.array([1.0, 2.0]), np.array([0.5, 0.5]))
    >>> combined.estimate, combined.variance
    (1.5, 0.75)
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    m = len(q)
    if m < 2 or q.shape != u.shape or not (u > 0).all():
        raise ParameterError(
            "Give at least two estimates, and a squared standard error above 0 for each."
        )
    within, between = float(u.mean()), float(q.var(ddof=1))
    degrees = np.inf if between == 0 else (m - 1) * (1 + m * within / between) ** 2
    return Combined(
        estimate=float(q.mean()),
        within=within,
        between=between,
        variance=within + between / m,
        degrees=float(degrees),
    )
