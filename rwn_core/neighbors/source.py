"""A source finds neighborhoods for many settings: it searches, or it cuts a stored table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors import (
    Neighborhoods,
    NeighborTable,
    check_radius_and_k,
    find_and_draw,
    find_strictly,
    neighbor_table,
)
from rwn_core.neighbors.candidates import Scheme, restricted_table
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.kernel import EVEN, Kernel
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius
from rwn_core.parallel.threads import Progress, Watch, thread_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """Which others belong to a neighborhood.

    Attributes
    ----------
    k : int or None
        At least the k nearest.
    epsilon : float, ndarray of float64 of shape (n,), or None
        All within this radius.
    strict : bool
        Whether records at exactly the radius are left out (the 2015 method).
    kernel : Kernel
        How likely each member is to be the donor.
    """

    k: int | None
    epsilon: Radius | None
    strict: bool = False
    kernel: Kernel = EVEN


class NeighborSource(Protocol):
    """Finds the neighborhoods of records, in one metric."""

    @property
    def points(self) -> Points:
        """All records, shape (n, d)."""

    @property
    def records(self) -> NDArray[np.int64]:
        """The records with neighborhoods, ascending, shape (m,)."""

    @property
    def needs_key(self) -> bool:
        """True if neighborhoods depend on the key, so that they cannot be stored."""

    def stores(self, ball: Ball) -> bool:
        """True if these neighborhoods are found in milliseconds."""

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Find neighborhoods and, where it is the same work, draw donors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchSource:
    """Searches anew for each setting.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
    scheme : Scheme
        Who may be a neighbor. Random candidates depend on the key.
    """

    points: Points = field(repr=False)
    scheme: Scheme = field(default_factory=Scheme)

    @property
    def records(self) -> NDArray[np.int64]:
        """All records."""
        return np.arange(len(self.points))

    @property
    def needs_key(self) -> bool:
        """True if candidates are random."""
        return not self.scheme.exact

    def stores(self, ball: Ball) -> bool:
        """Never: see `NeighborSource`."""
        return False

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Find neighborhoods; see `NeighborSource`."""
        if not self.scheme.exact:
            return self._among_candidates(ball, drawing, threads, progress), None
        return search(self.points, ball, drawing, threads=threads, progress=progress)

    def _among_candidates(
        self,
        ball: Ball,
        drawing: Drawing | None,
        threads: int | None,
        progress: Progress | None,
    ) -> Neighborhoods:
        if drawing is None:
            raise ParameterError(
                f"neighbors={self.scheme.neighbors} depends on the key; draw a release with one."
            )
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        table = restricted_table(
            self.points,
            ball.k,
            ball.epsilon,
            scheme=self.scheme,
            key=drawing.key,
            watch=Watch(threads=thread_count(threads), progress=progress),
        )
        return table.narrow(k=ball.k, epsilon=ball.epsilon, strict=ball.strict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredSource:
    """Cuts a stored table of ranked neighbors; beyond one of all records it searches.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
    table : NeighborTable
        Of all records, or of some of them.
    """

    points: Points = field(repr=False)
    table: NeighborTable = field(repr=False)

    needs_key = False

    @property
    def records(self) -> NDArray[np.int64]:
        """The records of the table."""
        numbers = self.table.numbers
        return np.arange(len(self.points)) if numbers is None else numbers

    def stores(self, ball: Ball) -> bool:
        """True if the table holds them."""
        return self.table.covers(k=ball.k, epsilon=ball.epsilon)

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Find neighborhoods; see `NeighborSource`."""
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        if self.stores(ball) or self.table.numbers is not None:
            return self.table.narrow(k=ball.k, epsilon=ball.epsilon, strict=ball.strict), None
        return search(self.points, ball, drawing, threads=threads, progress=progress)


def stored_source(
    points: Points,
    ball: Ball,
    *,
    threads: int | None = None,
    budget: float | None = None,
) -> NeighborSource:
    """Store the neighbors of every record out to a ball; where they do not fit, search instead."""
    # Shapes: points (n, d).
    try:
        table = neighbor_table(
            points,
            k=None if ball.k is None else min(ball.k, len(points) - 1),
            epsilon=ball.epsilon,
            threads=threads,
            budget=budget,
        )
    except ParameterError:
        return SearchSource(points=points)
    return StoredSource(points=points, table=table)


def source_of_some(
    points: Points,
    records: NDArray[np.int64],
    ball: Ball,
    *,
    threads: int | None = None,
) -> StoredSource:
    """Store the neighbors of some records among all of a large table, out to a ball."""
    # Shapes: points (n, d); records (m,).
    from rwn_core.neighbors.tree_search import neighborhoods_of_some, tree_index

    watch = Watch(threads=thread_count(threads), progress=None)
    table = neighborhoods_of_some(
        tree_index(points, None), points, records, ball.k, ball.epsilon, watch
    )
    return StoredSource(points=points, table=table)


def search(
    points: Points,
    ball: Ball,
    drawing: Drawing | None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
    """Search among all records; see `NeighborSource.find`."""
    if ball.strict:
        radius = float(ball.epsilon or 0.0)  # type: ignore[arg-type]  # a strict ball has one radius
        return find_strictly(points, radius, threads=threads, progress=progress), None
    return find_and_draw(
        points, drawing, k=ball.k, epsilon=ball.epsilon, threads=threads, progress=progress
    )
