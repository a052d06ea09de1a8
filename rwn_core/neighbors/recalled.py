"""Neighborhoods of known sizes: members are listed without a search for sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.lazy_table import SearchedTable, sizes_only, unlisted_neighborhoods
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.source import Ball
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.neighbors.tree_search import tree_index
from rwn_core.parallel.threads import Watch


class Sizes(NamedTuple):
    """Sizes that a search has found, without members and nearest distances.

    Attributes
    ----------
    within, sizes : ndarray of int64, shape (n,)
    kth : ndarray of float64, shape (n,)
        Squared distance to the k-th nearest where k governs, else 0.
    """

    within: NDArray[np.int64]
    sizes: NDArray[np.int64]
    kth: NDArray[np.float64]


def known_sizes(neighborhoods: Neighborhoods) -> Sizes | None:
    """Return the sizes of the neighborhoods of all records; None for some records."""
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
    """Return the neighborhoods of a ball with known sizes, without a search."""
    index = tree_index(points, ball.epsilon, watch)
    search = Search(index, k=ball.k or 0, epsilon=ball.epsilon, strict=ball.strict)
    nearest = np.full(len(points), np.nan)
    return unlisted_neighborhoods(search, sizes_only(*known, nearest), watch)
