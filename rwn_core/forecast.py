"""What to expect of a setting before any release is drawn: closed forms of the cell law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.cell_law import CellLaw


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """Expected moments of a release, given the original.

    Attributes
    ----------
    means : pandas.Series
        Expected mean of each numeric variable.
    covariances : pandas.DataFrame
        Expected covariance matrix, divisor n - 1.
    mean_variances : pandas.Series
        Variance of each released mean over releases.
    cell_means, cell_variances : ndarray of float64, shape (n, m)
        Of each released value.
    """

    means: pd.Series[float]
    covariances: pd.DataFrame
    mean_variances: pd.Series[float]
    cell_means: NDArray[np.float64]
    cell_variances: NDArray[np.float64]


def forecast_moments(law: CellLaw) -> Forecast:
    """Expected means and covariances of a release.

    Parameters
    ----------
    law : CellLaw

    Returns
    -------
    Forecast
        Of the continuous and count variables; none of their values may be missing.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5; the moments follow from independent cells.
    """
    names = list(law.original.numeric_names)
    values = law.original.matrix(names)
    q = np.array([law.modification(name) for name in names])
    near_mean = law.members @ values
    near_variance = np.maximum(law.members @ values**2 - near_mean**2, 0.0)
    cell_means = (1 - q) * values + q * near_mean
    cell_variances = q * (1 - q) * (values - near_mean) ** 2 + q * near_variance
    n = len(values)
    covariances = np.atleast_2d(np.cov(cell_means, rowvar=False))
    covariances[np.diag_indices_from(covariances)] += cell_variances.mean(axis=0)
    return Forecast(
        means=pd.Series(cell_means.mean(axis=0), index=names),
        covariances=pd.DataFrame(covariances, index=names, columns=names),
        mean_variances=pd.Series(cell_variances.sum(axis=0) / n**2, index=names),
        cell_means=cell_means,
        cell_variances=cell_variances,
    )
