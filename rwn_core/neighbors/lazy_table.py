"""Searches the neighborhoods of large tables without storing their members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.draw_kernel import SearchResult
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, radius_values
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.neighbors.tree_search import fill_table, tree_index
from rwn_core.parallel.memory import budget_bytes, check_fits, search_bytes
from rwn_core.parallel.threads import Watch, thread_count


class SearchedTable:
    """A neighbor table of known sizes, stored on first use of its members.

    Attributes
    ----------
    k, epsilon
        How far it goes.
    search : Search
    result : SearchResult
        Its sizes and distances.
    """

    def __init__(
        self, search: Search, result: SearchResult, watch: Watch, budget: float | None
    ) -> None:
        self.k, self.epsilon = search.k, 0.0 if search.epsilon is None else search.epsilon
        self.search, self.result, self._watch, self._budget = search, result, watch, budget
        self._stored: NeighborTable | None = None
        some = search.query is not search.target
        self.numbers: NDArray[np.int64] | None = search.query.side.numbers if some else None

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.result.sizes)

    @property
    def stored(self) -> NeighborTable:
        """The table itself; kept once it is there."""
        if self._stored is None:
            table = fill_table(self.search, self.result, self._watch, self._budget)
            self._stored = replace(table, numbers=self.numbers)
        return self._stored

    @property
    def offsets(self) -> NDArray[np.int64]:
        """As in `NeighborTable`."""
        return self.stored.offsets

    @property
    def records(self) -> NDArray[np.int32]:
        """As in `NeighborTable`."""
        return self.stored.records

    @property
    def squared(self) -> NDArray[np.float64]:
        """As in `NeighborTable`."""
        return self.stored.squared

    def covers(self, *, k: int | None, epsilon: Radius | None) -> bool:
        """As in `NeighborTable`."""
        return self.stored.covers(k=k, epsilon=epsilon)

    def narrow(
        self, *, k: int | None, epsilon: Radius | None, strict: bool = False
    ) -> Neighborhoods:
        """As in `NeighborTable`."""
        return self.stored.narrow(k=k, epsilon=epsilon, strict=strict)

    @property
    def is_stored(self) -> bool:
        """True if members can be read without a search."""
        return self._stored is not None


def search_donors(
    neighborhoods: Neighborhoods, drawing: Drawing, threads: int | None = None
) -> NDArray[np.int64]:
    """Draw donors by searching once more, without storing members, shape (n, p)."""
    table = neighborhoods.table
    assert isinstance(table, SearchedTable)
    return table.search.run(Watch(threads=thread_count(threads)), drawing).donors


def search_neighborhoods(
    points: Points,
    *,
    k: int | None,
    epsilon: Radius | None,
    drawing: Drawing | None = None,
    watch: Watch,
    budget: float | None = None,
) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
    """Find the neighborhoods of a large file, and draw donors in the same pass if asked to."""
    _check_search(points, 0 if drawing is None else len(drawing.q), budget)
    search = Search(tree_index(points, epsilon, watch), k=k or 0, epsilon=epsilon)
    return run_search(search, drawing, watch, budget)


def search_strictly(points: Points, epsilon: float, watch: Watch) -> Neighborhoods:
    """The others of every record at a distance below epsilon; some records may have none."""
    _check_search(points, 0, None)
    search = Search(tree_index(points, None, watch), k=0, epsilon=epsilon, strict=True)
    return run_search(search, None, watch)[0]


def _check_search(points: Points, columns: int, budget: float | None) -> None:
    needed = search_bytes(len(points), points.shape[1], columns)
    check_fits(needed, budget_bytes(budget), "Searching this table", "take a sample of its records")


def run_search(
    search: Search, drawing: Drawing | None, watch: Watch, budget: float | None = None
) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
    """`search_neighborhoods` for a search that is made ready."""
    result = search.run(watch, drawing)
    neighborhoods = unlisted_neighborhoods(search, result, watch, budget)
    return neighborhoods, None if drawing is None else result.donors


def unlisted_neighborhoods(
    search: Search, result: SearchResult, watch: Watch, budget: float | None = None
) -> Neighborhoods:
    """Return the neighborhoods of a search with known sizes and distances."""
    k, epsilon = search.k, search.epsilon
    radius = np.sqrt(result.kth)
    if epsilon is not None:
        radius = np.maximum(radius_values(epsilon), radius)
    return Neighborhoods(
        table=SearchedTable(search, result, Watch(threads=watch.threads), budget),
        sizes=result.sizes,
        within=result.within,
        radius=radius,
        k=k or None,
        epsilon=epsilon,
        first=result.nearest,
    )


def sizes_only(
    within: NDArray[np.int64],
    sizes: NDArray[np.int64],
    kth: NDArray[np.float64],
    nearest: NDArray[np.float64],
) -> SearchResult:
    """Return the result of a search without donors and members."""
    none = np.empty(0, np.int64)
    return SearchResult(
        within=within,
        sizes=sizes,
        nearest=nearest,
        kth=kth,
        donors=np.empty((0, 0), np.int64),
        starts=none,
        members=none.astype(np.int32),
        squared=np.empty(0),
    )
