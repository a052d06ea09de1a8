"""How far a squared distance of rotated, rounded coordinates may lie from the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_inline, jit_no_refcount

SLACK = 1e-6  # ties go beyond a radius by 1e-9, and chains of ties somewhat further
UNDERFLOW = 1e-44  # more than a product or half of one loses below the smallest single numbers


@jit_inline
def error_bound(norm: float, far: float, dimensions: int, unit: float) -> float:
    """The largest error of the squared distance of two points, taken from a tile's center.

    The points, x' and y' from the center, are at most `far` = |x'| + |y'| apart. A coordinate is
    off by unit times the point's norm from the center of the rotation, from its leaf's center and
    from the tile's, so the difference of two points by e = 2 unit (norm + far), and its square by
    2 far e + e^2. The distance is summed up as |x'|^2 + |y'|^2 - 2 x'y': d products each time,
    none above far^2. The first is doubled, and the second taken three times, for what is left out
    (rounding of the halves, of the bound itself). Products of very small numbers are off by a
    fixed amount instead.

    Parameters
    ----------
    norm : float
        Of the query point, from the center of the rotation and from that of its leaf.
    far : float
    dimensions : int
    unit : float
        Relative error of one rotated coordinate.
    """
    error = 4 * unit * (norm + far)
    rounding = 3 * (dimensions + 3) * (unit * far * far + UNDERFLOW)
    return float(2 * far * error + error * error + rounding)


@jit_no_refcount
def widened_edge(squared: float, norm: float, dimensions: int, unit: float) -> float:
    """How far from a point the box of another one may seem to be that lies within `squared`.

    The other point's norm is at most norm + sqrt(squared): see `error_bound`.
    """
    if squared == np.inf:
        return np.inf
    radius = np.sqrt(squared)
    error = 4 * unit * (norm + radius)
    rounding = 2 * (dimensions + 3) * (unit * squared + UNDERFLOW)
    return float((squared + 2 * radius * error + error * error + rounding) * (1 + SLACK))


@jit_entry
def bound_norms(
    centers: NDArray[Any],
    halves: NDArray[Any],
    spans: NDArray[np.float64],
    norms: NDArray[np.float64],
) -> None:
    """How far the points of each leaf may be from its center, and what `error_bound` calls a norm.

    Parameters
    ----------
    centers, halves : ndarray, shape (leaves, d)
    spans, norms : ndarray of float64, shape (leaves,)
        Filled.
    """
    for leaf in range(len(centers)):
        center, half = 0.0, 0.0
        for axis in range(centers.shape[1]):
            center += np.float64(centers[leaf, axis]) ** 2
            half += np.float64(halves[leaf, axis]) ** 2
        spans[leaf] = np.sqrt(half)
        norms[leaf] = np.sqrt(center) + 2 * spans[leaf]


@jit_no_refcount
def exact_squared(
    point: NDArray[np.float64],
    points: NDArray[np.float64],
    levels: NDArray[np.int64],
    squares: NDArray[np.float64],
    row: int,
) -> float:
    """The squared distance of a point to a row, summed in column order: the bits of `distance`.

    Parameters
    ----------
    point : ndarray of float64, shape (d,)
    points : ndarray of float64, shape (g, d)
    levels, squares : ndarray
        Of `Side`.
    row : int
    """
    total = 0.0
    if len(levels) == 0:
        for axis in range(len(point)):
            difference = point[axis] - points[row, axis]
            total += difference * difference
        return total
    for axis in range(len(point)):
        one, two = point[axis], points[row, axis]
        if levels[axis] < 0:
            difference = one - two
            total += difference * difference
        elif one != two:
            total += squares[levels[axis] + np.int64(min(one, two))]
            total += squares[levels[axis] + np.int64(max(one, two))]
    return total
