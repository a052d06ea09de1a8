"""Poisson log-linear models of key cells, fitted by iterative proportional fitting."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.statistics.population import FileRisk, file_risk

STEPS = 60
CLOSE = 1e-6  # largest remaining error of a margin, in records
ENOUGH = 1.96  # |B| / sd(B) at which a model is no longer refuted

Terms = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A fitted model of key cells.

    Attributes
    ----------
    terms : tuple of tuple of int
        Fitted margins: a key each for main effects, pairs for interactions.
    means : ndarray of float64
        Fitted sample means of all cells, in the shape of the table of counts.
    risk : FileRisk
    z : float
        The check B of tau2, standardized; about standard normal if the model holds, above 0 where
        it is too simple.
    """

    terms: Terms
    means: NDArray[np.float64]
    risk: FileRisk
    z: float


def fit_margins(counts: NDArray[np.float64], terms: Terms) -> NDArray[np.float64]:
    """Return the fitted means of a log-linear model with these margins (Deming, Stephan 1940)."""
    means = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(STEPS):
        error = 0.0
        for term in terms:
            rest = tuple(axis for axis in range(counts.ndim) if axis not in term)
            target = counts.sum(axis=rest, keepdims=True)
            have = means.sum(axis=rest, keepdims=True)
            error = max(error, float(np.abs(target - have).max()))
            means = means * np.divide(target, have, out=np.zeros_like(target), where=have > 0)
        if error < CLOSE:
            break
    return means


def check_deviation(means: NDArray[np.float64], fraction: float) -> float:
    """Return the standard deviation of the check B of tau2 under the model.

    For a Poisson count f of mean m, f - m has variance m, (f - m)^2 - f has variance 2 m^2, and
    the two are uncorrelated.
    """
    m = np.maximum(means.ravel(), 1e-300)
    c = (1 - fraction) * m / fraction
    small = c < 1e-2
    safe = np.where(small, 1.0, c)
    first = np.where(small, -0.5 + c / 3, (np.exp(-safe) * (safe + 1) - 1) / safe**2)
    second = np.where(
        small, 1 / 3 - c / 4, (2 - np.exp(-safe) * (safe**2 + 2 * safe + 2)) / safe**3
    )
    scale = (1 - fraction) / fraction
    variance = (scale * first) ** 2 * m + (scale**2 * second) ** 2 * m**2 / 2
    return float(np.sqrt(((m * np.exp(-m)) ** 2 * variance).sum()))


def _model(counts: NDArray[np.float64], terms: Terms, fraction: float) -> Model:
    means = fit_margins(counts, terms)
    risk = file_risk(counts.ravel(), means.ravel(), fraction)
    spread = check_deviation(means, fraction)
    z = risk.check2 / spread if spread > 0 else 0.0
    return Model(terms=terms, means=means, risk=risk, z=z)


def forward_search(counts: NDArray[np.float64], fraction: float, most: int = 6) -> list[Model]:
    """Return models from main effects on, each with one more interaction, at most `most`.

    The search ends when |B| is at most 1.96 standard deviations (Skinner and Shlomo 2008, section
    4).
    """
    mains: Terms = tuple((axis,) for axis in range(counts.ndim))
    path = [_model(counts, mains, fraction)]
    left = list(combinations(range(counts.ndim), 2))
    while left and len(path) <= most and abs(path[-1].z) > ENOUGH and fraction < 1:
        tried = [_model(counts, _with(path[-1].terms, pair), fraction) for pair in left]
        best = int(np.argmin([abs(model.z) for model in tried]))
        if abs(tried[best].z) >= abs(path[-1].z):
            break
        path.append(tried[best])
        left.pop(best)
    return path


def _with(terms: Terms, pair: tuple[int, ...]) -> Terms:
    """Add a margin; the margins that it contains are dropped."""
    return (*(term for term in terms if not set(term) <= set(pair)), pair)
