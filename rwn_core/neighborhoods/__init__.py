"""Neighborhoods: for each record, the others near enough to give it their values.

S_i is one closed ball around record i, of radius epsilon or the distance to its k-th nearest
other record, whichever is larger; i itself is left out by its number, and everybody at the
boundary (d^2 <= r^2 (1 + 1e-9)) belongs to it, so that S_i never depends on the row order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighborhoods.dense import complete_table
from rwn_core.neighborhoods.table import Neighborhoods, NeighborTable
from rwn_core.neighborhoods.tree import tree_table

__all__ = [
    "LARGEST_DENSE",
    "NeighborTable",
    "Neighborhoods",
    "check_reach",
    "find_neighborhoods",
    "neighbor_table",
]

LARGEST_DENSE = 2000  # records up to which all pairs are held at once


def check_reach(k: object, epsilon: object, n: int | None = None) -> None:
    """Refuse a k or an epsilon that cannot be used.

    Parameters
    ----------
    k : int or None
    epsilon : float or None
    n : int, optional
        Number of records, if known.

    Raises
    ------
    ParameterError
    """
    if k is None and epsilon is None:
        raise ParameterError("Give epsilon, k or both; neither is given.")
    if epsilon is not None:
        number = isinstance(epsilon, int | float | np.integer | np.floating) and not isinstance(
            epsilon, bool
        )
        if not number or math.isnan(float(epsilon)) or float(epsilon) < 0:  # type: ignore[arg-type]
            raise ParameterError(
                "epsilon must be a number of at least 0 (a radius in standard deviations)."
            )
    if k is None:
        return
    most = "n - 1" if n is None else f"{n - 1} (the number of records less one)"
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or int(k) < 1 or (n is not None and int(k) >= n):  # type: ignore[call-overload]
        raise ParameterError(f"k must be a whole number from 1 to {most}.")


def neighbor_table(
    points: NDArray[np.float64],
    *,
    k: int | None,
    epsilon: float | None,
    threads: int = 2,
    progress: Callable[[float], None] | None = None,
) -> NeighborTable:
    """The ranked others of every record, at least out to k and epsilon.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
        From 1 to n - 1.
    epsilon : float, optional
        Radius, at least 0.
    threads : int
    progress : callable, optional
        Told the share done, from 0 to 1.

    Returns
    -------
    NeighborTable

    Raises
    ------
    ParameterError
    """
    check_reach(k, epsilon, len(points))
    if len(points) <= LARGEST_DENSE:
        return complete_table(points)
    return tree_table(points, k or 0, float(epsilon or 0.0), threads=threads, progress=progress)


def find_neighborhoods(
    points: NDArray[np.float64],
    *,
    k: int | None = None,
    epsilon: float | None = None,
    threads: int = 2,
    progress: Callable[[float], None] | None = None,
) -> Neighborhoods:
    """Find every record's neighborhood.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        Records as points, for example from `rwn_core.coordinates`.
    k : int, optional
        Every neighborhood has at least k members; from 1 to n - 1.
    epsilon : float, optional
        Every record within this radius is a member; at least 0. Not the epsilon of
        differential privacy. At least one of k and epsilon is needed.
    threads : int
    progress : callable, optional
        Told the share done, from 0 to 1.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5, step 2.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> find_neighborhoods(points, k=1, epsilon=1.0).sizes.tolist()
    [1, 2, 1, 1]
    """
    table = neighbor_table(points, k=k, epsilon=epsilon, threads=threads, progress=progress)
    return table.narrow(k=k, epsilon=epsilon)
