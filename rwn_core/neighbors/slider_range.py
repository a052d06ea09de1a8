"""How far the sliders go: the radius beyond which a neighborhood is most of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import squared_to_all
from rwn_core.neighbors.points import CodedPoints, Points
from rwn_core.neighbors.table import LARGEST_DENSE

SAMPLE = 300  # records whose distances to all others are looked at
FEWEST = 50  # of them, in a large table
PAIRS = 6_100_000
THINNED = 100_000  # of the others, kept for quantiles of their distances
GUESSED = 10_000  # of those that tell about where a rank lies
SPREAD = 5.0  # the largest radius that is stored, in median nearest distances
WIDEST = 27.0  # where a slider ends for a strict policy, unless balls hold before
SHARE = 0.1  # of the file, or
SHARE_OF_FEW = 0.25  # where all pairs of records are stored
LARGEST_K = 150  # unless that were more than half of what may be stored,
LEAST_K = 60  # but never less, or
LARGEST_K_OF_FEW = 100  # where all pairs of records are stored
STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SliderRange:
    """How far the sliders of epsilon and k go on one table.

    Attributes
    ----------
    epsilon : float
        Largest radius worth offering.
    step : float
        A round step, between a fiftieth and a hundred-and-twenty-fifth of it.
    k : int
        Largest k.
    typical : float
        A radius that gives about half of the records a neighbor: the median nearest distance,
        or the smallest distance that occurs where most records have a twin.
    stored : float
        The radius out to which the neighbors are to be stored, as they fit; at most epsilon.
    """

    epsilon: float
    step: float
    k: int
    typical: float
    stored: float

    @property
    def positions(self) -> NDArray[np.float64]:
        """The radii that the slider can be moved to, as decimal numbers."""
        count = round(self.epsilon / self.step)
        return np.array([float(f"{number * self.step:.12g}") for number in range(count + 1)])

    def radius(self, multiple: float) -> float:
        """A multiple of the typical distance, on the slider."""
        return round(min(round(multiple * self.typical / self.step) * self.step, self.epsilon), 10)


def slider_range_of(
    points: Points,
    largest_pairs: int,
    rows_stored: int | None = None,
    largest_searched: int | None = None,
) -> SliderRange:
    """Choose how far the sliders of epsilon and k go, from an evenly spread sample of its records.

    Parameters
    ----------
    points : ndarray, shape (n, d)
    largest_pairs : int
        Neighbor pairs that may be stored.
    rows_stored : int, optional
        Records whose pairs are stored; all by default.
    largest_searched : int, optional
        Neighbor pairs that a search of these records may meet at the largest radius; as many as
        may be stored by default.

    Returns
    -------
    SliderRange
    """
    n = len(points)
    rows = rows_stored or n
    nearest, squared = _sampled(points)
    typical = float(np.median(nearest))
    if typical == 0:
        typical = _low_distance(squared)
    few, near = n <= LARGEST_DENSE, SPREAD * typical
    wide = _radius_of_mean_size(squared, SHARE_OF_FEW if few else SHARE)
    reach = max(near, min(wide, WIDEST * typical))

    def within(radius: float, pairs: int) -> float:
        """The radius, or a smaller one that has so few pairs."""
        if n - 1 <= pairs / rows:
            return radius
        return min(radius, _radius_of_mean_size(squared, pairs / rows / n))

    stores = within(reach if few else near, largest_pairs)  # ranking what is farther takes seconds
    most = within(reach, max(largest_pairs, largest_searched or 0))
    most = max(most, typical)  # of twins alone, any radius has too many
    step = _step(most)
    stored, epsilon = (max(step, math.floor(r / step) * step) for r in (stores, most))
    stored, epsilon = float(f"{stored:.12g}"), float(f"{epsilon:.12g}")
    k = LARGEST_K_OF_FEW if few else _largest_k(largest_pairs // rows)
    return SliderRange(epsilon=epsilon, step=step, k=min(k, n - 1), typical=typical, stored=stored)


def _largest_k(stored: int) -> int:
    """Where k ends if a record has so many neighbors stored on average; a multiple of ten."""
    return max(LEAST_K, min(LARGEST_K, stored // 20 * 10))


def _sampled(points: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Some records' nearest distances, and their squared distances to most others, (m, l)."""
    n = len(points)
    looked_at = min(SAMPLE, n, max(FEWEST, PAIRS // n))
    rows = np.unique(np.linspace(0, n - 1, looked_at).astype(np.int64))
    nearest, thinned = np.empty(len(rows)), -(-n // THINNED)
    kept = np.empty((len(rows), len(range(0, n, thinned))))
    if n > LARGEST_DENSE and not isinstance(points, CodedPoints):
        from rwn_core.neighbors.kernels.sampled_distances import look_around

        look_around(np.ascontiguousarray(points.T), rows, nearest, kept)
        return np.sqrt(nearest), kept
    for place, squared in enumerate(squared_to_all(points, rows)):
        squared[rows[place]] = np.inf
        nearest[place], kept[place] = squared.min(), squared[::thinned]
    return np.sqrt(nearest), kept


def _low_distance(squared: NDArray[np.float64]) -> float:
    """The 1 % quantile of the sampled distances between records that are apart."""
    together = int(np.count_nonzero(squared <= 0))
    count = int(np.count_nonzero(np.isfinite(squared))) - together
    if count == 0:
        return 1.0
    place = 0.01 * (count - 1)
    low = math.floor(place)
    ends = [_ascending(squared, together + min(rank, count - 1)) for rank in (low, low + 1)]
    return float(np.sqrt(np.quantile(ends, place - low)))


def _radius_of_mean_size(squared: NDArray[np.float64], share: float) -> float:
    """The radius within which the sampled records have this share of the others on average."""
    finite = int(np.count_nonzero(np.isfinite(squared)))
    return float(np.sqrt(_ascending(squared, min(int(share * squared.size), finite - 1))))


def _ascending(values: NDArray[np.float64], rank: int) -> float:
    """The value at a place in ascending order: only those that may come first are ordered."""
    flat = values.ravel()
    few = np.sort(flat[:: -(-flat.size // GUESSED)])
    likely = few[min(int(rank / flat.size * len(few) + 4 * math.sqrt(len(few))), len(few) - 1)]
    first = flat[flat <= likely]
    return float(np.partition(first if len(first) > rank else flat, rank)[rank])


def _step(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that goes into the range 50 times."""
    finest = most / STEPS
    power = 10.0 ** math.floor(math.log10(finest))
    return float(next(m * power for m in (5, 2, 1) if m * power <= finest * (1 + 1e-9)))
