"""Hard tables, neighborhoods over all pairs, and compiled functions that Python may call."""

from typing import Any

import numba
import numpy as np

from rwn_core.neighbors import NeighborTable, Radius, neighbor_table
from rwn_core.neighbors.index import build_index

BOUNDARY = 1 + 1e-9


def squared_pairs(points: np.ndarray) -> np.ndarray:
    """Squared distances of all pairs, shape (n, n); infinite from a record to itself."""
    squared = np.square(points[:, None, :] - points[None, :, :]).sum(axis=2)
    squared[np.eye(len(points), dtype=bool)] = np.inf
    return squared


def member_sets(
    points: np.ndarray, *, k: int | None = None, epsilon: Radius | None = None
) -> list[set[int]]:
    """S_i of every record."""
    squared = squared_pairs(points)
    near = np.zeros(squared.shape, dtype=bool)
    if epsilon is not None:
        near |= squared <= np.reshape(epsilon, (-1, 1)) ** 2 * BOUNDARY
    if k is not None:
        near |= squared <= np.sort(squared, axis=1)[:, [k - 1]] * BOUNDARY
    near &= ~np.eye(len(points), dtype=bool)
    return [set(np.flatnonzero(row).tolist()) for row in near]


def hard_table(number: int) -> np.ndarray:
    """Table `number` of an endless series: ties, clones, constants, two records, wide scales."""
    rng = np.random.default_rng(number)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 6))
    kind = number % 5
    if kind == 0:  # a lattice: most distances are tied
        points = rng.integers(0, 3, (n, d)).astype(float)
    elif kind == 1:  # clones of few different records
        points = rng.normal(size=(max(1, n // 5), d))[rng.integers(0, max(1, n // 5), n)]
    elif kind == 2:  # nothing is tied
        points = rng.normal(size=(n, d))
    elif kind == 3:  # z-scored 0/1 columns beside rounded numbers
        points = np.where(rng.random((n, d)) < 0.3, 1.7320508075688772, -0.5773502691896258)
        points[:, 0] = np.round(rng.normal(size=n), 1)
    else:  # columns of unlike scales
        points = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d)
    if number % 7 == 0:
        points[:, -1] = 0.25  # a constant column
    if number % 11 == 0:
        points = points[:2] if n > 2 else points
    return points


def hard_settings(points: np.ndarray, number: int) -> list[tuple[int | None, float | None]]:
    """Pairs of k and epsilon: on a tie, at the ends, beyond the data."""
    rng = np.random.default_rng(number + 1)
    n = len(points)
    squared = squared_pairs(points)
    on_a_tie = float(np.sqrt(rng.choice(squared[np.isfinite(squared)])))
    k = int(rng.integers(1, n))
    return [
        (k, None),
        (1, 0.0),
        (n - 1, None),
        (None, on_a_tie),
        (k, on_a_tie),
        (k, float(np.sqrt(squared[np.isfinite(squared)].max())) * 2 + 1),
        (None, np.inf),
    ]


def callable_here(*kernels: Any) -> list[Any]:
    """The same functions, compiled with what Python needs to call them."""
    return [numba.njit(error_model="numpy")(kernel.py_func) for kernel in kernels]


def searched_table(points: np.ndarray, *, k: int | None, epsilon: Radius | None) -> NeighborTable:
    """Every record's others, by leaves of an index instead of all pairs."""
    index = build_index(points, epsilon=epsilon)
    return neighbor_table(points, k=k, epsilon=epsilon, index=index)
