"""Learners that predict one variable from the others: a forest, a linear model, neighbors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sample = tuple[NDArray[np.float64], NDArray[Any]]

TREES = 100
NEIGHBORS = 15
RIDGE = 1.0  # keeps collinear features from having no answer; small beside any n worth fitting


def forest(train: Sample, features: NDArray[np.float64], classify: bool) -> NDArray[Any]:
    """Return predictions of a random forest (Breiman 2001), shape (m,)."""
    # a second to import, and only prediction needs it
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    settings = {"n_estimators": TREES, "random_state": 0, "n_jobs": 1}
    if classify:
        # leaves of 10, as in the R program that the paper used: smaller ones learn single records
        made = RandomForestClassifier(**settings, min_samples_leaf=10)
    else:
        # a third of the features and leaves of 5
        made = RandomForestRegressor(**settings, max_features=1 / 3, min_samples_leaf=5)
    return np.asarray(made.fit(*train).predict(features))


def linear(train: Sample, features: NDArray[np.float64], classify: bool) -> NDArray[Any]:
    """Return predictions of a ridge regression, or of logistic regression with the same penalty."""
    from sklearn.linear_model import LogisticRegression, Ridge

    known, asked = _standardized(train[0], features)
    if not classify:
        return np.asarray(Ridge(alpha=RIDGE).fit(known, train[1]).predict(asked))
    if len(np.unique(train[1])) < 2:
        return np.full(len(asked), train[1][0])
    made = LogisticRegression(C=1 / RIDGE, max_iter=5000, tol=1e-6)
    return np.asarray(made.fit(known, train[1]).predict(asked))


def neighbors(train: Sample, features: NDArray[np.float64], classify: bool) -> NDArray[Any]:
    """Return predictions from the 15 nearest records."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    known, asked = _standardized(train[0], features)
    kind = KNeighborsClassifier if classify else KNeighborsRegressor
    made = kind(n_neighbors=min(NEIGHBORS, len(known))).fit(known, train[1])
    return np.asarray(made.predict(asked))


LEARNERS: Mapping[str, Callable[[Sample, NDArray[np.float64], bool], NDArray[Any]]] = (
    MappingProxyType(
        {"random forest": forest, "linear model": linear, "nearest neighbors": neighbors}
    )
)
"""Every learner by name; the first one's error is the measure's value."""


def learner_error(learner: str, train: Sample, test: Sample, *, classify: bool) -> float:
    """Return a learner's error on test records: share of wrong classes, or 1 - R2.

    Samples are (features, response) of shapes (n, d) and (n,); NaN where missing.
    """
    features, response = train
    # one order of the records, so that samples and ties do not depend on the file's
    order = np.lexsort((*np.nan_to_num(features, nan=np.inf).T, response))
    predicted = LEARNERS[learner]((features[order], response[order]), test[0], classify)
    if classify:
        return float((predicted != test[1]).mean())
    residual, deviation = test[1] - predicted, test[1] - test[1].mean()
    return float((residual**2).sum() / (deviation**2).sum())


def _standardized(
    known: NDArray[np.float64], asked: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Standardize both by the known records' moments; missing values at the mean."""
    present = ~np.isnan(known)
    count = np.maximum(present.sum(axis=0), 1)
    center = np.where(present, known, 0.0).sum(axis=0) / count
    apart = np.where(present, known - center, 0.0)
    spread = np.sqrt((apart**2).sum(axis=0) / count)
    unit = np.where(spread > 0, spread, 1.0)
    return apart / unit, np.nan_to_num((asked - center) / unit, nan=0.0)
