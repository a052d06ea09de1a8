"""How far the sliders go: the radius beyond which a neighborhood is most of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.ranking import squared_distances

SAMPLE = 300  # records whose distances to all others are looked at
FEWEST = 50  # of them, in a large table
PAIRS = 6_100_000
SPREAD = 5.0  # the largest radius, in median nearest distances
LARGEST_K = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Ranges for interactive use.

    Attributes
    ----------
    epsilon : float
        Largest radius worth offering.
    step : float
        A step of about a hundredth of it.
    k : int
        Largest k.
    typical : float
        A radius that gives about half of the records a neighbor: the median nearest distance,
        or the smallest distance that occurs where most records have a twin.
    """

    epsilon: float
    step: float
    k: int
    typical: float


def interactive_reach(
    points: NDArray[np.float64], largest_pairs: int, rows_stored: int | None = None
) -> Reach:
    """Ranges of epsilon and k for a table, from an evenly spread sample of its records.

    Parameters
    ----------
    points : ndarray, shape (n, d)
    largest_pairs : int
        Neighbor pairs that may be stored.
    rows_stored : int, optional
        Records whose pairs are stored; all by default.

    Returns
    -------
    Reach
    """
    n = len(points)
    looked_at = min(SAMPLE, n, max(FEWEST, PAIRS // n))
    rows = np.unique(np.linspace(0, n - 1, looked_at).astype(np.int64))
    everyone = np.arange(n)
    squared = np.array([squared_distances(points, row, everyone) for row in rows])
    squared[np.arange(len(rows)), rows] = np.inf
    nearest = np.sqrt(squared.min(axis=1))
    typical = float(np.median(nearest))
    if typical == 0:
        apart = squared[(squared > 0) & np.isfinite(squared)]
        typical = float(np.sqrt(np.quantile(apart, 0.01)))
    most = SPREAD * typical
    stored = largest_pairs / (rows_stored or n)
    if n - 1 > stored:
        most = min(most, _radius_of_mean_size(squared, stored))
    step = _step(most)
    return Reach(
        epsilon=round(max(step, math.floor(most / step) * step), 12),
        step=step,
        k=min(LARGEST_K, n - 1),
        typical=typical,
    )


def _radius_of_mean_size(squared: NDArray[np.float64], size: float) -> float:
    """The radius within which the sampled records have this many others on average."""
    together = squared[np.isfinite(squared)]
    place = min(int(size * len(squared)), len(together) - 1)
    return float(np.sqrt(np.partition(together, place)[place]))


def _step(most: float) -> float:
    return float(10.0 ** (math.floor(math.log10(most)) - 1))
