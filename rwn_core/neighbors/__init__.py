"""Neighborhoods: for each record, the others near enough to give it their values.

S_i is one closed ball around record i, of radius epsilon or the distance to its k-th nearest
other record, whichever is larger; i itself is left out by its number, and everybody at the
boundary (d^2 <= r^2 (1 + 1e-9)) belongs to it, so that S_i never depends on the row order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.brute_force import complete_table
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.radius import Radii, Radius, nearest_radii, one_radius
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Cancelled, Progress, Watch, thread_count

__all__ = [
    "LARGEST_DENSE",
    "Cancelled",
    "Drawing",
    "NeighborTable",
    "Neighborhoods",
    "Radii",
    "Radius",
    "check_reach",
    "find_and_draw",
    "find_neighborhoods",
    "find_strictly",
    "nearest_radii",
    "neighbor_table",
    "thread_count",
]


def check_reach(k: object, epsilon: object, n: int | None = None) -> None:
    """Refuse a k or an epsilon that cannot be used.

    Parameters
    ----------
    k : int or None
    epsilon : float, Radii, ndarray of float64 of shape (n,), or None
    n : int, optional
        Number of records, if known.

    Raises
    ------
    ParameterError
    """
    if k is None and epsilon is None:
        raise ParameterError("Give epsilon, k or both; neither is given.")
    if epsilon is not None:
        _check_epsilon(epsilon, n)
    if k is None:
        return
    most = "n - 1" if n is None else f"{n - 1} (the number of records less one)"
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or int(k) < 1 or (n is not None and int(k) >= n):  # type: ignore[call-overload]
        raise ParameterError(f"k must be a whole number from 1 to {most}.")


def _check_epsilon(epsilon: object, n: int | None) -> None:
    if not one_radius(epsilon):
        radii = epsilon if isinstance(epsilon, Radii) else Radii(epsilon)
        if n is not None and len(radii) != n:
            raise ParameterError(
                f"epsilon must be one number, or one for each of the {n:,} records; "
                f"{len(radii):,} are given."
            )
        return
    number = isinstance(epsilon, int | float | np.integer | np.floating)
    if not number or isinstance(epsilon, bool) or not float(epsilon) >= 0:  # type: ignore[arg-type]
        raise ParameterError(
            "epsilon must be a number of at least 0 (a radius in standard deviations)."
        )


def neighbor_table(
    points: NDArray[np.float64],
    *,
    k: int | None,
    epsilon: Radius | None,
    threads: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> NeighborTable:
    """The ranked others of every record, at least out to k and epsilon.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
        From 1 to n - 1.
    epsilon : float or ndarray of float64, shape (n,), optional
        Radius, at least 0.
    threads : int, optional
        RWN_THREADS or all processors by default; it changes the time, never the result.
    progress : callable, optional
        Told the share done, from 0 to 1. What it raises stops the work.
    budget : float, optional
        Bytes of memory that may be used; RWN_MEMORY or most of what is free by default.

    Returns
    -------
    NeighborTable

    Raises
    ------
    ParameterError
        Also if the table would not fit.
    Cancelled
    """
    check_reach(k, epsilon, len(points))
    if len(points) <= LARGEST_DENSE:
        return complete_table(points)
    from rwn_core.neighbors.tree_search import tree_table

    return tree_table(
        points,
        int(k or 0),
        0.0 if epsilon is None else epsilon,
        threads=threads,
        progress=progress,
        budget=budget,
    )


def find_neighborhoods(
    points: NDArray[np.float64],
    *,
    k: int | None = None,
    epsilon: Radius | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighborhoods:
    """Find every record's neighborhood.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        Records as points, for example from `rwn_core.neighbors.metric`.
    k : int, optional
        Every neighborhood has at least k members; from 1 to n - 1.
    epsilon : float, Radii or ndarray of float64 of shape (n,), optional
        Every record within this radius, or within the record's own, is a member; at least 0.
        Not the epsilon of differential privacy. At least one of k and epsilon is needed.
    threads : int, optional
        RWN_THREADS or all processors by default; it changes the time, never the result.
    progress : callable, optional
        Told the share done, from 0 to 1. What it raises stops the work.

    Returns
    -------
    Neighborhoods
        Of a large table, sizes and distances are at hand; the members are searched for again
        when they are asked for.

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
    found, _ = find_and_draw(points, None, k=k, epsilon=epsilon, threads=threads, progress=progress)
    return found


def find_and_draw(
    points: NDArray[np.float64],
    drawing: Drawing | None,
    *,
    k: int | None = None,
    epsilon: Radius | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
    """Find neighborhoods and, where the table is large, draw donors in the same pass.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    drawing : Drawing or None
        What to draw with.
    k, epsilon, threads, progress
        As for `find_neighborhoods`.

    Returns
    -------
    neighborhoods : Neighborhoods
    donors : ndarray of int64, shape (n, p), or None
        None where they are still to be drawn, which is quick: from a small table.
    """
    check_reach(k, epsilon, len(points))
    if len(points) <= LARGEST_DENSE:
        return complete_table(points).narrow(k=k, epsilon=epsilon), None
    from rwn_core.neighbors.lazy_table import search_neighborhoods

    watch = Watch(threads=thread_count(threads), progress=progress)
    return search_neighborhoods(points, k=k, epsilon=epsilon, drawing=drawing, watch=watch)


def find_strictly(
    points: NDArray[np.float64],
    epsilon: float,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighborhoods:
    """Find every record's others at a distance below epsilon (the 2015 method); some have none.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    epsilon : float
        At least 0; a record at exactly this distance is no member.
    threads, progress
        As for `find_neighborhoods`.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> find_strictly(np.array([[0.0], [1.0], [3.0]]), 2.0).sizes.tolist()
    [1, 1, 0]
    """
    check_reach(None, epsilon, len(points))
    if len(points) <= LARGEST_DENSE:
        return complete_table(points).narrow(k=None, epsilon=epsilon, strict=True)
    from rwn_core.neighbors.lazy_table import search_strictly

    watch = Watch(threads=thread_count(threads), progress=progress)
    return search_strictly(points, epsilon, watch)
