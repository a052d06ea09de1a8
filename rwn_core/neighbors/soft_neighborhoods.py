"""Neighborhoods of soft kernels: weights of the records that each record lists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import ParameterError
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.balance import Rows, Weights, balanced_weights, row_weights
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.kernel import Kernel, RadiusAndK
from rwn_core.neighbors.soft_lists import Lists, list_neighbors
from rwn_core.neighbors.source import NeighborSource
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftSource(NeighborSource):
    """Weighs the others of a table that is ranked once, for any soft kernel."""

    # shape (n,): records of one number are no donors of each other
    households: Integers | None = field(default=None, repr=False)
    # shape (m,): the records with neighborhoods, ascending, where they are not all
    some: Integers | None = field(default=None, repr=False)
    held: list[Scaled] = field(default_factory=list, repr=False)  # what the last kernel weighted

    @property
    def records(self) -> Integers:
        """The records with neighborhoods."""
        return np.arange(len(self.points)) if self.some is None else self.some

    def stores(self, ball: RadiusAndK) -> bool:
        """True if the table is ranked, and a move weighs few records."""
        few = not ball.kernel.balance or len(self.points) <= LIVE_RECORDS
        return few and self._holds(ball.kernel)

    def _holds(self, kernel: Kernel) -> bool:
        """True if the last ranking has what a kernel weighs: for balance that of all records."""
        if not self.held or self.held[0].options != _options(kernel):
            return False
        return self.held[0].table.numbers is None or not kernel.balance

    def _weighs_rows(self, kernel: Kernel) -> bool:
        """True if no pair is stored: all records of a large table are donors."""
        free = kernel.weighs_all and self.households is None
        return free and len(self.points) > LARGEST_DENSE

    def find(
        self,
        ball: RadiusAndK,
        drawing: DrawRequest | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, Integers | None]:
        """Find neighborhoods; see `NeighborSource`."""
        if self._weighs_rows(ball.kernel):
            table = AllDonors.of_points(self.points, ball.kernel, self.some)
            return table.neighborhoods(threads, progress), None
        self.rank(ball, threads=threads, progress=progress)
        scaled = self.held[0]
        some = self.some if scaled.table.numbers is None else None
        return soft_neighborhoods(ball.kernel, scaled, some), None

    def rank(
        self, ball: RadiusAndK, *, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        """Rank what the kernel of a ball weighs, unless that is done."""
        kernel = ball.kernel
        if not self._holds(kernel) and not self._weighs_rows(kernel):
            rows = None if kernel.balance else self.some
            lists = list_neighbors(
                self.points,
                kernel.bandwidth_k,
                rows,
                households=self.households,
                threads=threads,
                progress=progress,
            )
            self.held[:] = [scale(kernel, lists)]


class Scaled(NamedTuple):
    """Lists with what the kernel of every width is computed from."""

    table: NeighborTable  # a record is in its own row where it is one of its donors
    scaled: Floats  # shape (m,)
    # squared distance from each record of the table to its nearest other
    nearest: Floats
    least: int  # possible donors of every record, at least
    n: int  # records that may be listed
    options: tuple[object, ...]  # what all of this depends on


def _options(kernel: Kernel) -> tuple[object, ...]:
    return kernel.shape, kernel.bandwidth, kernel.bandwidth_k, kernel.own


def scale(kernel: Kernel, lists: Lists) -> Scaled:
    """Return lists with their distances in units of the bandwidth."""
    table, scales = lists.table, kernel.scales(lists.scaling)
    nearest = table.squared[table.offsets[:-1]]
    if kernel.own:
        table = _with_own(table)
    own = scales if table.numbers is None else scales[table.numbers]
    both = np.repeat(own, np.diff(table.offsets)) * scales[table.records]
    scaled = kernel.scaled(table.squared, both)
    least = lists.least + kernel.own
    return Scaled(table, scaled, nearest, least, len(scales), _options(kernel))


def column_factors(kernel: Kernel, lists: Lists) -> tuple[Floats, float]:
    """Return the logarithms of a balance's factors of all records, and what it misses."""
    found = weigh(kernel, scale(kernel, lists))
    return found.column, found.error


def soft_neighborhoods(
    kernel: Kernel, scaled: Scaled, some: Integers | None = None, column: Floats | None = None
) -> Neighborhoods:
    """Return all entries of lists as members, with their weights; or those of some records."""
    # Lists of some records take the factors of a balance from `column_factors` of all.
    table, found = scaled.table, weigh(kernel, scaled, column)
    shares, nearest = found.weights, scaled.nearest
    if some is not None:
        table, entries = table.for_records(some)
        shares, nearest = shares[entries], nearest[some]
    sizes = np.diff(table.offsets)
    return Neighborhoods(
        table=table,
        sizes=sizes,
        within=sizes,
        radius=np.sqrt(table.squared[table.offsets[1:] - 1]),
        k=None,
        epsilon=None,
        first=nearest,
        kernel=kernel,
        shares=shares,
        imbalance=found.error,
    )


def weigh(kernel: Kernel, scaled: Scaled, column: Floats | None = None) -> Weights:
    """Return the weights of all entries of lists, which a record joins as its own donor."""
    table, least = scaled.table, scaled.least
    if kernel.cap * least < 1 - 1e-9:
        raise ParameterError(
            f"cap must be at least 1/{least:,} = {1 / least:.3g} here: a record has "
            f"{least:,} possible donors."
        )
    rows = Rows(table.offsets, table.records, kernel.logs(scaled.scaled))
    if table.numbers is not None:
        factors = np.zeros(scaled.n) if column is None else column
        return row_weights(rows, float(kernel.cap), factors)
    return balanced_weights(rows, float(kernel.cap), float(kernel.balance))


def _with_own(table: NeighborTable) -> NeighborTable:
    """Return a table in which each record stands first in its own row."""
    starts = table.offsets[:-1]
    own = np.arange(table.n) if table.numbers is None else table.numbers
    return replace(
        table,
        offsets=table.offsets + np.arange(table.n + 1),
        records=np.insert(table.records, starts, own.astype(np.int32)),
        squared=np.insert(table.squared, starts, 0.0),
    )
