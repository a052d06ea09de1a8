"""Method 3: neighbors from the record's own random part of the table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.brute_force import complete_table
from rwn_core.neighbors.candidates.assemble import EVERY, cut_table, table_of_parts
from rwn_core.neighbors.candidates.pairs import paired_table
from rwn_core.neighbors.candidates.scheme import Scheme
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.table import LARGEST_DENSE, NeighborTable
from rwn_core.parallel.threads import Watch
from rwn_core.randomness import PARTS_STREAM, SecretKey, random_order


def random_parts(key: SecretKey, n: int, u: int) -> list[NDArray[np.int64]]:
    """Part n records at random into u parts whose sizes differ by one at most."""
    return [np.sort(part) for part in np.array_split(random_order(key, n, PARTS_STREAM), u)]


def partitioned_table(
    points: Points,
    k: int | None,
    epsilon: Radius | None,
    *,
    scheme: Scheme,
    key: SecretKey,
    watch: Watch,
) -> NeighborTable:
    """Every record's others in its part: all of them, or random partners.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
        Below the size of every part.
    epsilon : float or ndarray of float64, shape (n,), optional
    scheme : Scheme
        With u parts; and with m, if only m random partners in the part are candidates.
    key : SecretKey
    watch : Watch

    Returns
    -------
    NeighborTable
        No neighborhood crosses parts.
    """
    u, m = int(scheme.u or 1), scheme.m
    extent: tuple[int, Radius] = (k or 0, 0.0 if epsilon is None else epsilon)
    if m is not None:
        extent = (len(points) - 1, EVERY)

    def tables() -> Iterator[tuple[NDArray[np.int64], NeighborTable]]:
        for number, records in enumerate(random_parts(key, len(points), u)):
            own = points[records]
            if m is not None:
                yield records, paired_table(own, k, m=m, key=key.derived(f"part {number}"))
            else:
                same = epsilon is None or one_radius(epsilon)
                mine = epsilon if same else np.asarray(epsilon)[records]
                yield records, _whole_part(own, k, mine, len(points), watch.threads)
            watch.report((number + 1) / u)

    return table_of_parts(len(points), tables(), *extent)


def _whole_part(
    points: Points, k: int | None, epsilon: Radius | None, n: int, threads: int
) -> NeighborTable:
    if n <= LARGEST_DENSE:
        return cut_table(complete_table(points), k, epsilon)
    from rwn_core.neighbors.tree_search import tree_table

    return tree_table(points, k or 0, 0.0 if epsilon is None else epsilon, threads=threads)
