"""What to expect of a setting before any release is drawn: closed forms of the cell law."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.cell_law import CellLaw
from rwn_core.coordinates import coordinates
from rwn_core.masking import RWN
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import find_neighborhoods


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


def forecast(microdata: Microdata, params: RWN) -> Forecast:
    """What to expect of a setting, without drawing a release.

    Parameters
    ----------
    microdata : Microdata
        Its continuous and count variables must have no missing values.
    params : RWN

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> import pandas as pd
    >>> table = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    >>> float(forecast(table, RWN(k=1, q=1.0)).means["x"])
    0.6666666666666666
    """
    neighborhoods = find_neighborhoods(
        coordinates(microdata, params.scale, params.encoding), k=params.k, epsilon=params.epsilon
    )
    return forecast_moments(params.law(microdata, neighborhoods))


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
    center = values.mean(axis=0)
    centered = values - center  # squares of years or amounts would lose the digits that matter
    near_mean = law.members @ centered
    near_variance = np.maximum(law.members @ centered**2 - near_mean**2, 0.0)
    cell_means = center + (1 - q) * centered + q * near_mean
    cell_variances = q * (1 - q) * (centered - near_mean) ** 2 + q * near_variance
    n = len(values)
    covariances = np.atleast_2d(np.cov(cell_means, rowvar=False))
    covariances[np.diag_indices_from(covariances)] += cell_variances.mean(axis=0)
    for one, two in _common_donors(law, names):
        together = law.members @ (centered[:, one] * centered[:, two])
        product = near_mean[:, one] * near_mean[:, two]
        apart = (centered[:, one] - near_mean[:, one]) * (centered[:, two] - near_mean[:, two])
        shared = q[one] * ((1 - q[one]) * apart + together - product)
        covariances[[one, two], [two, one]] += shared.mean()
    return Forecast(
        means=pd.Series(cell_means.mean(axis=0), index=names),
        covariances=pd.DataFrame(covariances, index=names, columns=names),
        mean_variances=pd.Series(cell_variances.sum(axis=0) / n**2, index=names),
        cell_means=cell_means,
        cell_variances=cell_variances,
    )


def _common_donors(law: CellLaw, names: list[str]) -> list[tuple[int, int]]:
    """Places of the pairs of variables whose cells are not independent: those of one group."""
    units = [[names.index(name) for name in unit if name in names] for unit in law.units()]
    return [pair for unit in units for pair in combinations(unit, 2)]
