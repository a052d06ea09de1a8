"""Nearest points where there are many coordinates: one matrix product says which pairs to look at.

A tree of 50 coordinates looks at nearly every pair, one by one. A product in single precision
bounds all squared distances from below; exact ones are computed of the few pairs that may matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST_COORDINATES = 12  # from which on this is quicker than a tree,
MOST_POINTS = 10_000  # of up to so many points for each coordinate
LONGEST = 1e15  # whose square single precision still holds
PAIRS = 2_000_000  # bounded at a time
_UNIT = 2.0**-24  # half the distance of neighboring numbers of single precision, relative

Floats = NDArray[np.float64]


class Candidates(NamedTuple):
    """Pairs that may be the nearest, ordered by their row, and the exact squares of distances.

    Attributes
    ----------
    row : ndarray of int64
        Of the points that ask; each occurs.
    point : ndarray of int64
    squared : ndarray of float64
    """

    row: NDArray[np.int64]
    point: NDArray[np.int64]
    squared: Floats


def is_quick(points: Floats) -> bool:
    """Return True if this search is faster than a tree for these points."""
    coordinates = points.shape[1]
    return bool(coordinates >= FEWEST_COORDINATES and len(points) <= MOST_POINTS * coordinates)


class BoundedPoints:
    """Points of many coordinates, prepared for nearest-neighbor queries.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    """

    def __init__(self, points: Floats) -> None:
        self.points, self._center = points, points.mean(axis=0)
        near = points - self._center
        length = np.einsum("ij,ij->i", near, near)
        # what rounding can do to a term, twice as much as need be
        self._slack = 4 * (points.shape[1] + 8) * _UNIT
        self.held = bool(length.max(initial=0.0) < LONGEST**2)
        self._sides = np.empty((points.shape[1] + 1, len(points)), dtype=np.float32)
        if self.held:
            self._sides[:-1], self._sides[-1] = near.T, length * (1 - self._slack)

    def holds(self, others: Floats) -> bool:
        """Return True if these query points are within the range of single precision."""
        near = others - self._center
        return self.held and bool(np.abs(near).max(initial=0.0) * near.shape[1] < LONGEST)

    def candidates(self, others: Floats, count: int, beyond: float = 0.0) -> Iterator[Candidates]:
        """Yield the pairs that hold the `count` nearest points of others, in blocks of rows.

        Pairs up to the share `beyond` above the last squared distance are included.
        """
        size = max(1, PAIRS // len(self.points))
        for start in range(0, len(others), size):
            yield self._of_some(others[start : start + size], start, count, 1 + beyond)

    def _of_some(self, others: Floats, start: int, count: int, factor: float) -> Candidates:
        near = others - self._center
        asking = np.ones((len(near), near.shape[1] + 1), dtype=np.float32)
        asking[:, :-1] = -2 * near
        bounds = asking @ self._sides  # of the square, less what belongs to who asks
        own = np.einsum("ij,ij->i", near, near) * (1 - self._slack)
        rows = np.arange(len(near))
        limit = np.zeros(len(near))
        held = np.empty((count, len(near)), dtype=np.float32)
        places = np.empty((count, len(near)), dtype=np.intp)
        for number in range(count):  # the same number of true squares are at most the largest here
            place = places[number] = bounds.argmin(axis=1)
            held[number] = bounds[rows, place]
            bounds[rows, place] = np.inf
            limit = np.maximum(limit, squared(others, self.points[place]))
        bounds[limit == 0.0] = np.inf  # nobody is nearer, and as near are only equal points
        for number in range(count):
            bounds[rows, places[number]] = held[number]
        # rounded to single precision, the limit must not become smaller
        edge = np.nextafter((limit * factor - own + 1e-30).astype(np.float32), np.float32(np.inf))
        row, point = np.divmod(np.flatnonzero(bounds <= edge[:, np.newaxis]), len(self.points))
        return Candidates(row + start, point, squared(others[row], self.points[point]))


def squared(one: Floats, other: Floats) -> Floats:
    """Squared distances summed in one order, so that equal pairs give equal bits."""
    difference = one - other
    total = np.zeros(difference.shape[:-1])
    for column in range(difference.shape[-1]):
        total += difference[..., column] ** 2
    return total


def smallest(found: Candidates, first: int, rows: int, count: int) -> Floats:
    """The smallest squares of some rows from `first` on, ascending, shape (rows, count)."""
    order = np.lexsort((found.squared, found.row))
    starts = np.searchsorted(found.row, np.arange(first, first + rows))
    ascending: Floats = found.squared[order][starts[:, np.newaxis] + np.arange(count)]
    return ascending
