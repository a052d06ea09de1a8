"""Expectations of a release, made of expected sums over its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.evaluation.forecast.expected_sums import Columns, ExpectedSums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """The expected statistics of a release, given the original.

    Exact for complete numbers. Where numbers are missing, means and covariances are ratios of
    expectations, which differ from the expectation of the ratio by a term of order 1/n.

    Attributes
    ----------
    means : pandas.Series
        Expected mean of each numeric variable, if it has any value; NaN where none can have.
    covariances : pandas.DataFrame
        Expected covariance matrix, divisor n - 1.
    mean_variances : pandas.Series
        Variance of each released mean over releases.
    category_counts : mapping of str to pandas.Series
        Expected number of records in each level of the categorical and ordered variables with
        at most 200 levels.
    """

    means: pd.Series[float]
    covariances: pd.DataFrame
    mean_variances: pd.Series[float]
    category_counts: Mapping[str, pd.Series[float]]

    @property
    def correlations(self) -> pd.DataFrame:
        """Correlations of the expected covariances; NaN where a variance is 0.

        The expected correlation itself has no closed form; this differs by a term of order 1/n.
        """
        values = self.covariances.to_numpy()
        spread = np.sqrt(np.maximum(np.diag(values), 0.0))
        some = spread > 0
        safe = np.where(some, spread, 1.0)
        both = np.outer(some, some) & np.isfinite(values)
        result = np.where(both, np.clip(values / safe / safe[:, None], -1.0, 1.0), np.nan)
        return pd.DataFrame(result, index=self.covariances.index, columns=self.covariances.columns)


def forecast_from_sums(columns: Columns, sums: ExpectedSums, setting: int) -> Forecast:
    """Return the forecast of one of several settings."""
    names, unit = list(columns.names), columns.unit
    seen, noise = sums.seen[setting], sums.noise[setting]
    # means and their variances over the known numbers; NaN where nothing is known
    count = np.diag(seen)
    some = count > 0
    mean = np.where(some, sums.first[setting] / np.where(some, count, 1.0), np.nan)
    variance = np.where(some, np.diag(noise) / np.where(some, count, 1.0) ** 2, np.nan)
    # E(sum of products) less E(product of sums), each pair over the records with both numbers
    own, other = sums.first_seen[setting], sums.first_seen[setting].T
    enough = seen > 1
    safe = np.where(enough, seen, 2.0)
    covariance = (sums.second[setting] - (own * other + noise) / safe) / (safe - 1)
    # the diagonal of `together` lists the levels of all variables in turn
    counts, first = dict[str, "pd.Series[float]"](), 0
    for name, levels in columns.levels.items():
        own_counts = np.diag(sums.together[setting])[first : first + len(levels)]
        counts[name] = pd.Series(own_counts, index=levels)
        first += len(levels)
    return Forecast(
        means=pd.Series(columns.center + unit * mean, index=names, dtype=np.float64),
        covariances=pd.DataFrame(
            np.where(enough, covariance, np.nan) * np.outer(unit, unit), index=names, columns=names
        ),
        mean_variances=pd.Series(unit**2 * variance, index=names, dtype=np.float64),
        category_counts=counts,
    )
