"""Estimates from a survey: weighted means and regressions, with errors of the design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """How the records were drawn.

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

    def of(self, records: NDArray[np.int64]) -> Design:
        """The design of some records."""
        return Design(
            weights=self.weights[records],
            strata=self.strata[records],
            clusters=self.clusters[records],
        )

    def variance(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariance of totals of influences, with clusters drawn with replacement in strata.

        Parameters
        ----------
        influence : ndarray of float64, shape (n, m)
            What each record contributes to m estimates, its weight included.

        Returns
        -------
        ndarray of float64, shape (m, m)
            A stratum of one cluster is measured against the mean of all clusters.

        References
        ----------
        Taylor linearization: Lumley 2010, "Complex Surveys", section 2.
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
    """The mean of a population that each record stands for a part of; NaN without people."""
    total = float(weights.sum())
    return float(weights @ values) / total if total > 0 else float("nan")


def mean_error(values: NDArray[np.float64], design: Design) -> float:
    """The standard error of `weighted_mean` under a design."""
    weights = design.weights
    influence = weights * (values - weighted_mean(values, weights)) / weights.sum()
    return float(np.sqrt(design.variance(influence[:, None])[0, 0]))


def weighted_slopes(
    columns: NDArray[np.float64], response: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Coefficients of a weighted linear regression, the intercept first, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    root = np.sqrt(weights)[:, None]
    found = np.linalg.lstsq(matrix * root, response * root[:, 0], rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def slope_errors(
    columns: NDArray[np.float64], response: NDArray[np.float64], design: Design
) -> NDArray[np.float64]:
    """Standard errors of `weighted_slopes` under a design, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    left = response - matrix @ weighted_slopes(columns, response, design.weights)
    bread = np.linalg.pinv((matrix * design.weights[:, None]).T @ matrix)
    influence = (design.weights * left)[:, None] * (matrix @ bread)
    return np.asarray(np.sqrt(np.diag(design.variance(influence))))
