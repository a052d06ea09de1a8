"""Weighted means and regressions of surveys, with design-based standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Sampling design of the records.

    Attributes
    ----------
    weights : ndarray of float64, shape (n,)
        How many people each record stands for.
    strata, clusters : ndarray of int64, shape (n,)
        Numbers from 0. Records of one cluster were drawn together, within a stratum.
    """

    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    clusters: NDArray[np.int64]

    def subset(self, records: NDArray[np.int64]) -> Design:
        """Return the design of some records."""
        return Design(
            weights=self.weights[records],
            strata=self.strata[records],
            clusters=self.clusters[records],
        )

    def variance(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the covariance of totals of `influence`, shape (n, m), by Taylor linearization.

        Lumley 2010, section 2. Clusters are drawn with replacement in strata; a single cluster is
        compared with the mean of all clusters.
        """
        pairs, place = np.unique(
            np.stack((self.strata, self.clusters)), axis=1, return_inverse=True
        )
        place = place.ravel()
        totals = np.zeros((pairs.shape[1], influence.shape[1]))
        np.add.at(totals, place, influence)
        strata = np.unique(pairs[0], return_inverse=True)[1].ravel()
        sizes = np.bincount(strata)
        means = np.zeros((len(sizes), influence.shape[1]))
        np.add.at(means, strata, totals)
        means /= sizes[:, None]
        means[sizes == 1] = totals.mean(axis=0)
        apart = totals - means[strata]
        factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)[strata]
        return np.asarray((apart * factor[:, None]).T @ apart)


def weighted_mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the weighted mean; NaN if the weights sum to 0."""
    total = float(weights.sum())
    return float(weights @ values) / total if total > 0 else float("nan")


def mean_error(values: NDArray[np.float64], design: Design) -> float:
    """Return the standard error of `weighted_mean` under a design."""
    weights = design.weights
    influence = weights * (values - weighted_mean(values, weights)) / weights.sum()
    return float(np.sqrt(design.variance(influence[:, None])[0, 0]))


def weighted_slopes(
    columns: NDArray[np.float64], response: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coefficients of a weighted regression, the intercept first, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    root = np.sqrt(weights)[:, None]
    found = np.linalg.lstsq(matrix * root, response * root[:, 0], rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def slope_errors(
    columns: NDArray[np.float64], response: NDArray[np.float64], design: Design
) -> NDArray[np.float64]:
    """Return the standard errors of `weighted_slopes` under a design, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    left = response - matrix @ weighted_slopes(columns, response, design.weights)
    bread = np.linalg.pinv((matrix * design.weights[:, None]).T @ matrix)
    influence = (design.weights * left)[:, None] * (matrix @ bread)
    return np.asarray(np.sqrt(np.diag(design.variance(influence))))
