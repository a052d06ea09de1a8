"""From a search to a stored table of neighbors, if it fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.kernels.arrays import Found
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import Watch

FEWER = 'take a smaller epsilon or k, or neighbors="sample" or "partition"'


def index_of(
    points: NDArray[np.float64], epsilon: Radius | None, watch: Watch | None = None
) -> Index:
    """The index of a table whose records may have radii of their own."""
    apart = None if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)
    return build_index(points, apart=apart, watch=watch)


def fill_table(search: Search, found: Found, watch: Watch, budget: float | None) -> NeighborTable:
    """Store the members that a search has found.

    Raises
    ------
    ParameterError
        They would not fit.
    """
    pairs = float(found.sizes.sum())
    check_fits(pairs_bytes(pairs), budget_bytes(budget), "The table of neighbors", FEWER)
    table = search.fill(found, watch)
    return NeighborTable(
        offsets=table.starts,
        records=_numbered(search, table.members),
        squared=table.squared,
        k=search.k,
        epsilon=0.0 if search.epsilon is None else search.epsilon,
    )


def _numbered(search: Search, members: NDArray[np.int32]) -> NDArray[np.int32]:
    """Members by their numbers in the whole table."""
    numbers = search.target.side.numbers
    if len(numbers) and numbers[-1] == len(numbers) - 1:
        return members
    return numbers.astype(np.int32)[members]
