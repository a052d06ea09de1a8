"""Finds neighborhoods: for each record, the others near enough to give it their values.

S_i is one closed ball around record i, of radius epsilon or the distance to its k-th nearest
other record, whichever is larger; i itself is left out by its number, and every record at the
boundary (d^2 <= r^2 (1 + 1e-9)) belongs to it, so that S_i never depends on the row order.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.sizes import LISTED_PAIRS, LIVE_RECORDS
from rwn_core.data.variable import checks_form
from rwn_core.errors import ParameterError
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.balanced_edge import balanced_neighborhoods
from rwn_core.neighbors.candidates import Scheme, neighbor_table, restricted_table
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.kernel import (
    EVEN,
    Kernel,
    Radii,
    Radius,
    RadiusAndK,
    check_radius_and_k,
    one_radius,
)
from rwn_core.neighbors.record_draws import DrawRequest
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.soft_lists import list_neighbors
from rwn_core.neighbors.soft_neighborhoods import Scaled, scale, soft_neighborhoods
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.memory import pairs_bytes
from rwn_core.parallel.threads import Progress, current_work, work

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index
    from rwn_core.neighbors.search import Search, Sizes

TABLE_BYTES = 2 * pairs_bytes(STORED_PAIRS)  # of a table that has more than were expected


def check_outside(groups: Integers, k: int | None) -> None:
    """Refuse a k that the largest household does not leave; groups (n,)."""
    left = len(groups) - int(np.bincount(groups).max())
    if left < max(1, k or 0):
        raise ParameterError(
            f"The largest household leaves {left:,} records outside it; choose k of at most so "
            "many, or leave out outside_household."
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Finder:
    """A finder of the neighborhoods of records in one metric; it keeps the tables that it makes."""

    points: Points = field(repr=False)  # shape (n, d): of all records
    # Which records may be neighbors. Random candidates depend on the key.
    scheme: Scheme = field(default_factory=Scheme)
    # shape (n,): records of one number, such as a household, are no neighbors of each other
    groups: Integers | None = field(default=None, repr=False)
    # shape (m,): the records with neighborhoods, ascending; None for all. Their neighborhoods are
    # those of the full table either way.
    shown: Integers | None = field(default=None, repr=False)
    # of all records, or of those shown; None where each setting is searched
    table: NeighborTable | None = field(default=None, repr=False)
    index: Index | None = field(default=None, repr=False)  # what a search starts from
    slider_range: SliderRange | None = None  # how far the sliders of a screen go
    scaled: Scaled | None = field(
        default=None, repr=False
    )  # lists and distances for the last soft kernel

    @property
    def records(self) -> Integers:
        """The records with neighborhoods, ascending, shape (m,)."""
        return np.arange(len(self.points)) if self.shown is None else self.shown

    @property
    def needs_key(self) -> bool:
        """True if neighborhoods depend on the key, so that they cannot be stored."""
        return not self.scheme.exact

    def stores(self, ball: RadiusAndK) -> bool:
        """True if these neighborhoods are found in milliseconds."""
        if ball.kernel.has_edge:
            table = self._table_of_all if ball.kernel.balance else self.table
            own = ball.epsilon if ball.kernel.balance else self._own(ball.epsilon)
            return table is not None and table.covers(k=ball.k, epsilon=own)
        # the records are ranked, those of all for a balance, and a move weighs few
        if self.scaled is None or self.scaled.options != ball.kernel.options:
            return False
        few = len(self.points) <= LIVE_RECORDS
        return not ball.kernel.balance or (few and self.scaled.table.numbers is None)

    def find(
        self, ball: RadiusAndK, drawing: DrawRequest | None = None, *, known: Sizes | None = None
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods and, where it is the same work, draw donors, shape (m, p)."""
        # Sizes of a large table that are `known` are not counted again.
        kernel = ball.kernel
        if not kernel.has_edge:
            if self._weighs_rows(kernel):
                return AllDonors.of_points(self.points, kernel, self.shown).neighborhoods(), None
            scaled = self._rank(kernel)
            some = self.shown if scaled.table.numbers is None else None
            return soft_neighborhoods(kernel, scaled, some), None
        check_radius_and_k(ball.k, ball.epsilon, len(self.points))
        if self.groups is not None:
            check_outside(self.groups, ball.k)
        if kernel.balance:
            return self._balanced(ball), None
        table = self._table_to_cut(ball, drawing)
        if table is not None:
            return table.cut(k=ball.k, epsilon=self._own(ball.epsilon), strict=ball.strict), None
        # all others are searched, in the same pass as donors are drawn
        return self._search(ball, drawing).neighborhoods(drawing, known)

    def _table_to_cut(self, ball: RadiusAndK, drawing: DrawRequest | None) -> NeighborTable | None:
        """Return what is stored, or small enough to be ranked at once; None for a search."""
        if self.needs_key:
            assert drawing is not None
            return restricted_table(self.points, ball, self.scheme, drawing.key)
        if self.table is not None and self.stores(ball):
            return self.table
        if self.index is not None:
            return None
        if self.table is not None and not self._is_every_record:
            return self.table
        n = len(self.points)
        if n <= LARGEST_DENSE:  # all pairs of a small table
            return neighbor_table(self.points, k=ball.k, epsilon=ball.epsilon, groups=self.groups)
        if ball.strict and one_radius(ball.epsilon) and ball.epsilon == 0:
            # no distance is below the radius
            offsets = np.zeros(n + 1, np.int64)
            nobody = np.empty(0, np.int32)
            return NeighborTable(offsets=offsets, records=nobody, squared=np.empty(0))
        return None

    def _search(self, ball: RadiusAndK, drawing: DrawRequest | None) -> Search:
        """Return the search of a large table's neighborhoods, by the index that fits a ball."""
        from rwn_core.neighbors import search
        from rwn_core.neighbors.index import build_index

        own_radii = not one_radius(ball.epsilon)
        if self.index is None or (self._is_every_record and own_radii):
            search.check_search(self.points, 0 if drawing is None else len(drawing.q))
            index = build_index(self.points, epsilon=ball.epsilon)
            return search.Search(index, ball=ball, groups=self.groups)
        if self._is_every_record:
            return search.Search(self.index, ball=ball, groups=self.groups)
        return search.Search.of_some(self.index, self.points, self.records, ball, self.groups)

    @property
    def _is_every_record(self) -> bool:
        """True if all records have neighborhoods, and not some that are shown."""
        return len(self.records) == len(self.points)

    @property
    def _table_of_all(self) -> NeighborTable | None:
        """The stored table, where it is one of all records."""
        return None if self.table is None or self.table.numbers is not None else self.table

    def _balanced(self, ball: RadiusAndK) -> Neighborhoods:
        """Return balanced neighborhoods of a radius and k, which depend on all records."""
        table = self._table_of_all
        if table is None or not table.covers(k=ball.k, epsilon=ball.epsilon):
            table = neighbor_table(
                self.points, k=ball.k, epsilon=ball.epsilon, index=self.index, groups=self.groups
            )
            if self.table is None:
                self.table = table
        return balanced_neighborhoods(
            table.cut(k=ball.k, epsilon=ball.epsilon), ball.kernel, self.shown
        )

    def _own(self, epsilon: Radius | None) -> Radius | None:
        """Return the radius of the records with neighborhoods."""
        return epsilon if one_radius(epsilon) else np.asarray(epsilon)[self.records]

    def _weighs_rows(self, kernel: Kernel) -> bool:
        """True if no pair is stored: all records of a large table are donors."""
        return kernel.weighs_all and self.groups is None and len(self.points) > LARGEST_DENSE

    def _rank(self, kernel: Kernel) -> Scaled:
        """Return what a soft kernel weighs: what the last one did, or listed now."""
        held = self.scaled
        shown = None if kernel.balance else self.shown
        fits = held is not None and held.options == kernel.options
        if held is None or not fits or (held.table.numbers is not None and kernel.balance):
            lists = list_neighbors(self.points, kernel.bandwidth_k, shown, groups=self.groups)
            self.scaled = held = scale(kernel, lists)
        return held

    def store(self, ball: RadiusAndK, records: Integers | None = None) -> None:
        """Store the neighbors of all records, or of some, out to a ball; if they fit."""
        # Shapes: records (m,).
        groups = self.groups
        if groups is not None:
            check_outside(groups, ball.k)
        self.shown = records
        if records is not None:
            from rwn_core.neighbors.index import build_index
            from rwn_core.neighbors.search import Search

            index = build_index(self.points)
            self.table = Search.of_some(index, self.points, records, ball, groups).table()
            return
        k = None if ball.k is None else min(ball.k, len(self.points) - 1)
        with suppress(ParameterError):
            self.table = neighbor_table(self.points, k=k, epsilon=ball.epsilon, groups=groups)

    def store_for_sliders(
        self, kernel: Kernel = EVEN, most: int = LIVE_RECORDS, seed: int = 0
    ) -> None:
        """Store what a screen's sliders reach, of all records or of random ones of many."""
        # It may run in any thread: it lets go of the interpreter's lock.
        n = len(self.points)
        points = self.points
        groups = self.groups
        if n > most:
            self.shown = np.sort(np.random.default_rng(seed).permutation(n)[:most])
        if not kernel.has_edge:
            if not self._weighs_rows(kernel):
                self._rank(kernel)
            return
        ends = find_slider_range(points, STORED_PAIRS, min(n, most), LISTED_PAIRS)
        if groups is not None:
            check_outside(groups, None)
            ends = replace(ends, k=min(ends.k, n - int(np.bincount(groups).max())))
        self.slider_range = ends
        current_work().report(0.0)
        if n <= LARGEST_DENSE:
            self.table = neighbor_table(points, k=1, epsilon=None, groups=groups)
        else:
            from rwn_core.neighbors.index import build_index
            from rwn_core.neighbors.search import Search

            self.index = index = build_index(points)
            current_work().report(0.0)
            # out to the radius that should fit, or less far, or none
            k, epsilon = ends.k, ends.stored
            while self.table is None and epsilon >= 0:
                with suppress(ParameterError), work(memory=TABLE_BYTES):
                    if self.shown is None:
                        self.table = neighbor_table(
                            points, k=k, epsilon=epsilon, index=index, groups=groups
                        )
                    else:
                        ball = RadiusAndK(k=k, epsilon=epsilon)
                        self.table = Search.of_some(index, points, self.shown, ball, groups).table()
                halved = epsilon / 2 if epsilon / 2 >= ends.step else 0.0
                epsilon = halved if epsilon > 0 else -1.0
        current_work().report(1.0)


@checks_form
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
    with work(threads=threads, progress=progress):
        return Finder(points=points).find(ball)[0]


@checks_form
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
    with work(threads=threads):
        table = neighbor_table(points, k=neighbors, epsilon=None)
    # a tie at the last rank is stored whole: only the asked number of distances counts
    entries = table.offsets[:-1, None] + np.arange(neighbors)
    return Radii(np.quantile(np.sqrt(table.squared[entries]), quantile, axis=1))
