"""How far a squared distance of rotated, rounded coordinates may lie from the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighborhoods.compiled import compiled

SLACK = 1e-6  # ties reach beyond a radius by 1e-9, and chains of ties somewhat further


@compiled
def guard(squared: float, norm: float, dimensions: int, unit: float) -> float:
    """The largest error of a squared distance up to `squared`.

    With r^2 = squared, the other point lies within norm + r of the center. Each point is off by
    at most unit times its norm, so the difference is off by e <= unit (2 norm + 3 r), its square
    by 2 r e + e^2, and a sum of d products by d unit r^2; all of it is doubled for what is left
    out (rounding of the difference, of the square, of the bound itself).

    Parameters
    ----------
    squared : float
    norm : float
        Of the query point, from the center of the rotation.
    dimensions : int
    unit : float
        Relative error of one rotated coordinate.
    """
    if squared == np.inf:
        return np.inf
    radius = np.sqrt(squared)
    error = 2 * unit * (2 * norm + 3 * radius)
    return float(2 * radius * error + error * error + 2 * (dimensions + 3) * unit * squared)


@compiled
def guard_up_to(rough: float, norm: float, dimensions: int, unit: float) -> float:
    """The largest error of squared distances whose approximate values are at most `rough`.

    With e = 4 unit norm, D - 2 sqrt(D) e - e^2 - (a few unit) D <= rough bounds the exact D:
    sqrt(D) is at most sqrt(rough) + 3 e, and a twentieth more for what is left out.
    """
    radius = 1.05 * (np.sqrt(rough) + 12 * unit * norm)
    return guard(radius * radius, norm, dimensions, unit)


@compiled
def norm_of(tile: NDArray[Any], place: int) -> float:
    """Distance of a tile's point from the center."""
    total = 0.0
    for axis in range(tile.shape[0]):
        total += np.float64(tile[axis, place]) ** 2
    return float(np.sqrt(total))


@compiled
def exact_squared(point: NDArray[np.float64], points: NDArray[np.float64], row: int) -> float:
    """The squared distance of a point to a row, summed in column order: the bits of `ranking`."""
    total = 0.0
    for axis in range(len(point)):
        difference = point[axis] - points[row, axis]
        total += difference * difference
    return total
