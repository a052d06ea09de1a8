"""Neighborhoods whose sizes are known from elsewhere: their members are listed without a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.lazy_table import SearchedTable, sizes_alone, without_members
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.source import Ball
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.neighbors.tree_search import index_of
from rwn_core.parallel.threads import Watch


class Sizes(NamedTuple):
    """What a search has found of every record of a table, without members and nearest distances.

    Attributes
    ----------
    within, sizes : ndarray of int64, shape (n,)
    kth : ndarray of float64, shape (n,)
        Squared distance to the k-th nearest where k governs, else 0.
    """

    within: NDArray[np.int64]
    sizes: NDArray[np.int64]
    kth: NDArray[np.float64]


def sizes_of(neighborhoods: Neighborhoods) -> Sizes | None:
    """The sizes of the neighborhoods of all records; None of those of some."""
    table, k = neighborhoods.table, neighborhoods.k or 0
    if table.numbers is not None:
        return None
    if isinstance(table, SearchedTable):
        return Sizes(neighborhoods.within, neighborhoods.sizes, table.result.kth)
    if not isinstance(table, NeighborTable):
        return None
    short = neighborhoods.within < k
    last = np.minimum(table.offsets[:-1] + k, table.offsets[1:]) - 1
    kth = np.where(short, table.squared[np.maximum(last, 0)], 0.0)
    return Sizes(neighborhoods.within, neighborhoods.sizes, kth)


def recalled(points: Points, ball: Ball, known: Sizes, watch: Watch) -> Neighborhoods:
    """The neighborhoods of a ball, whose sizes are those of an exact search among all points."""
    index = index_of(points, ball.epsilon, watch)
    search = Search(index, k=ball.k or 0, epsilon=ball.epsilon, strict=ball.strict)
    nearest = np.full(len(points), np.nan)
    return without_members(search, sizes_alone(*known, nearest), watch)
