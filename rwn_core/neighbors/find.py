"""Finds neighborhoods: for each record, the others near enough to give it their values.

S_i is one closed ball around record i, of radius epsilon or the distance to its k-th nearest
other record, whichever is larger; i itself is left out by its number, and every record at the
boundary (d^2 <= r^2 (1 + 1e-9)) belongs to it, so that S_i never depends on the row order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.errors import ParameterError
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.kernel import Radii, Radius, RadiusAndK, check_radius_and_k
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable, complete_table
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import Progress, ProgressMonitor, thread_count

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index
    from rwn_core.neighbors.search import Sizes

ESTIMATED = 1000  # records; their sizes say how large a table will be


def neighbor_table(
    points: Points,
    *,
    k: int | None,
    epsilon: Radius | None,
    watch: ProgressMonitor | None = None,
    budget: float | None = None,
    index: Index | None = None,
) -> NeighborTable:
    """The ranked others of every record, at least out to k and epsilon."""
    # Shapes: points (n, d); epsilon (n,). With an index, a small table is searched too.
    n = len(points)
    check_radius_and_k(k, epsilon, n)
    if index is None and n <= LARGEST_DENSE:
        return complete_table(points)
    from rwn_core.neighbors.index import build_index
    from rwn_core.neighbors.search import FEWER, TABLE, Search, check_search

    watch, allowed = watch or ProgressMonitor(threads=thread_count()), budget_bytes(budget)
    if index is None:
        check_search(points, 0, budget)
        index = build_index(points, epsilon=epsilon, watch=watch)
    if pairs_bytes(float(n) * (n - 1)) > allowed and n > ESTIMATED:
        some = np.unique(np.linspace(0, n - 1, ESTIMATED).astype(np.int64))
        sizes = Search.of_some(index, points, some, k, epsilon).run(ProgressMonitor()).sizes
        check_fits(pairs_bytes(sizes.mean() * n), allowed, TABLE, FEWER)
    table = Search(index, k=k or 0, epsilon=epsilon).table(watch, allowed)
    watch.report(1.0)
    return table


def find_neighborhoods(
    points: Points,
    *,
    k: int | None = None,
    epsilon: Radius | None = None,
    strict: bool = False,
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
    strict : bool
        Leave out records at exactly the distance epsilon, as the method of 2015 does; without k,
        a record may have no neighbors then.
    threads : int, optional
        RWN_THREADS or all processors by default; it changes the time, never the result.
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises stops the work.

    Returns
    -------
    Neighborhoods
        Of a large table, sizes and distances are stored; the members are searched for again
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
    >>> find_neighborhoods(points, epsilon=2.0, strict=True).sizes.tolist()
    [1, 2, 1, 0]
    """
    ball = RadiusAndK(k=k, epsilon=epsilon, strict=strict)
    return find_and_draw(points, ball, threads=threads, progress=progress)[0]


def find_and_draw(
    points: Points,
    ball: RadiusAndK,
    drawing: DrawRequest | None = None,
    *,
    known: Sizes | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Neighborhoods, Integers | None]:
    """Find neighborhoods and, where the table is large, draw donors in the same pass."""
    # Shapes: points (n, d). Sizes of a large table that are `known` are not counted again.
    check_radius_and_k(ball.k, ball.epsilon, len(points))
    if len(points) <= LARGEST_DENSE:
        return complete_table(points).cut(k=ball.k, epsilon=ball.epsilon, strict=ball.strict), None
    if ball.strict and ball.epsilon == 0:  # no distance is below it
        offsets = np.zeros(len(points) + 1, np.int64)
        no, none = np.empty(0, np.int32), np.empty(0)
        table = NeighborTable(offsets=offsets, records=no, squared=none, k=0, epsilon=0.0)
        return table.cut(k=None, epsilon=0.0, strict=True), None
    from rwn_core.neighbors.search import Search, check_search

    watch = ProgressMonitor(threads=thread_count(threads), progress=progress)
    check_search(points, 0 if drawing is None else len(drawing.q))
    search = Search.of_points(points, ball, watch)
    if known is not None:
        return search.recalled(known, watch), None
    return search.neighborhoods(watch, drawing)


def nearest_radii(
    points: Points, *, neighbors: int, quantile: float, threads: int | None = None
) -> Radii:
    """Find radii that adapt to how many records are near.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    neighbors : int
        How many of the nearest others are looked at, below n.
    quantile : float
        Which quantile of the distances to them becomes the radius, from 0 to 1.
    threads : int, optional

    Returns
    -------
    Radii

    Raises
    ------
    ParameterError
    """
    if not 0 <= quantile <= 1:
        raise ParameterError("quantile must be a number from 0 to 1.")
    watch = ProgressMonitor(threads=thread_count(threads))
    table = neighbor_table(points, k=neighbors, epsilon=None, watch=watch)
    # a tie at the last rank is stored whole: only the asked number of distances counts
    entries = table.offsets[:-1, None] + np.arange(neighbors)
    return Radii(np.quantile(np.sqrt(table.squared[entries]), quantile, axis=1))
