"""Ends of the sliders: the radius beyond which a neighborhood is most of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.neighbors.distance import Points, squared_to_all
from rwn_core.neighbors.table import LARGEST_DENSE

SAMPLE = 300  # records; their distances to all others are examined
FEWEST = 50  # of them, in a large table
PAIRS = 6_100_000
THINNED = 100_000  # of the others, kept for quantiles of their distances
# decides: median nearest distances of the largest stored radius; the slider ends at `WIDEST` or
# `SHARE`
SLIDER_RADIUS = 5.0
WIDEST = 27.0  # where a slider ends for a strict policy, unless balls hold before
SHARE = 0.1  # of the file, or
SHARE_OF_FEW = 0.25  # where all pairs of records are stored
SLIDER_K = 150  # decides: largest k of a slider, unless half of what is stored ends before
LEAST_K = 60  # but never less, or
LARGEST_K_OF_FEW = 100  # where all pairs of records are stored
BEYOND = 10  # decides: times the end of the slider that a radius may have which is typed
STEPS = 50
STORED_PAIRS = 12_000_000  # decides: neighbors that are stored for the sliders, 12 bytes each


@dataclass(frozen=True, slots=True, kw_only=True)
class SliderRange:
    """The ends of the sliders of epsilon and k on one table."""

    epsilon: float  # largest radius worth offering
    step: float  # a round step, between a fiftieth and a hundred-and-twenty-fifth of it
    k: int  # largest k
    # a radius that gives about half of the records a neighbor: the median nearest distance, or the
    # smallest distance that occurs where most records have a twin
    typical: float
    # the radius out to which the neighbors are to be stored, as they fit; at most epsilon
    stored: float
    others: int = 0  # the other records of a table whose pairs are all stored; 0 of a larger one

    @property
    def largest_epsilon(self) -> float:
        """Largest radius that may be typed: any of use, where all pairs are stored."""
        return BEYOND * self.epsilon if self.others else self.epsilon

    @property
    def largest_k(self) -> int:
        """Largest k that may be typed."""
        return max(self.k, self.others)

    def radius(self, multiple: float) -> float:
        """A multiple of the typical distance, on the slider."""
        return round(min(round(multiple * self.typical / self.step) * self.step, self.epsilon), 10)


def find_slider_range(
    points: Points,
    largest_pairs: int,
    rows_stored: int | None = None,
    largest_searched: int | None = None,
) -> SliderRange:
    """Choose the ends of the sliders of epsilon and k, from evenly spread records."""
    n = len(points)
    rows = rows_stored or n
    # some records' nearest distances, and their squared distances to most others, shape (m, l)
    looked_at = min(SAMPLE, n, max(FEWEST, PAIRS // n))
    sample = np.unique(np.linspace(0, n - 1, looked_at).astype(np.int64))
    nearest = np.empty(len(sample))
    thinned = -(-n // THINNED)
    thin = np.empty((len(sample), len(range(0, n, thinned))))
    for place, squared in enumerate(squared_to_all(points, sample)):
        squared[sample[place]] = np.inf
        nearest[place] = squared.min()
        thin[place] = squared[::thinned]
    typical = float(np.median(np.sqrt(nearest)))
    distances = thin.ravel()
    if typical == 0:
        typical = low_distance(distances)
    few = n <= LARGEST_DENSE
    near = SLIDER_RADIUS * typical
    wide = SHARE_OF_FEW if few else SHARE
    reach = radius_of_mean_size(distances, wide, near, WIDEST * typical)

    def within(radius: float, pairs: int) -> float:
        """The radius, or a smaller one that has so few pairs."""
        if n - 1 <= pairs / rows:
            return radius
        return radius_of_mean_size(distances, pairs / rows / n, most=radius)

    stores = within(reach if few else near, largest_pairs)  # ranking what is farther takes seconds
    most = within(reach, max(largest_pairs, largest_searched or 0))
    most = max(most, typical)  # of twins alone, any radius has too many
    # the largest of 1, 2 and 5 times a power of ten that goes into the range 50 times
    finest = most / STEPS
    power = 10.0 ** math.floor(math.log10(finest))
    step = float(next(m * power for m in (5, 2, 1) if m * power <= finest * (1 + 1e-9)))
    stored, epsilon = (max(step, math.floor(r / step) * step) for r in (stores, most))
    stored, epsilon = float(f"{stored:.12g}"), float(f"{epsilon:.12g}")
    # for a mean number of stored neighbors a multiple of ten
    k = max(LEAST_K, min(SLIDER_K, largest_pairs // rows // 20 * 10))
    k = LARGEST_K_OF_FEW if few else k
    return SliderRange(
        epsilon=epsilon,
        step=step,
        k=min(k, n - 1),
        typical=typical,
        stored=stored,
        others=n - 1 if few else 0,
    )


def low_distance(squared: Floats) -> float:
    """Return the 1 % quantile of the distances between records that are apart."""
    # Shapes: squared (s,), infinite between a record and itself.
    apart = squared[(squared > 0) & np.isfinite(squared)]
    return float(np.sqrt(np.quantile(apart, 0.01))) if len(apart) else 1.0


def radius_of_mean_size(
    squared: Floats, share: float, least: float = 0.0, most: float = np.inf
) -> float:
    """Return the radius within which the records have this share of the others on average."""
    # Shapes: squared as in `low_distance`.
    rank = min(int(share * squared.size), int(np.isfinite(squared).sum()) - 1)
    return float(np.clip(np.sqrt(np.partition(squared, rank)[rank]), least, most))
