"""Neighborhoods of soft kernels: all others of a small table, the nearest ones of a large one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.balance import Rows, Weights, balanced_weights
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.excluded import without_household
from rwn_core.neighbors.find import neighbor_table
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.source import Ball
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftSource:
    """Weighs the others of a table that is ranked once, for any soft kernel.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
    households : ndarray of int64, shape (n,), or None
        Records of one number are no donors of each other.
    ranked : list of NeighborTable
        The table, once it is ranked.
    """

    points: Points = field(repr=False)
    households: NDArray[np.int64] | None = field(default=None, repr=False)
    ranked: list[NeighborTable] = field(default_factory=list, repr=False)

    needs_key = False

    @property
    def records(self) -> NDArray[np.int64]:
        """All records."""
        return np.arange(len(self.points))

    def stores(self, ball: Ball) -> bool:
        """True if the table is ranked."""
        return bool(self.ranked)

    def find(
        self,
        ball: Ball,
        drawing: Drawing | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        """Find neighborhoods; see `NeighborSource`."""
        if not self.ranked:
            table = listed_table(self.points, self.households, threads=threads, progress=progress)
            self.ranked.append(table)
        return soft_neighborhoods(ball.kernel, self.ranked[0]), None


def soft_neighborhoods(kernel: Kernel, ranked: NeighborTable) -> Neighborhoods:
    """Return all entries of a table as members, with their weights."""
    table, found = weigh(kernel, ranked)
    sizes = np.diff(table.offsets)
    return Neighborhoods(
        table=table,
        sizes=sizes,
        within=sizes,
        radius=np.sqrt(table.squared[table.offsets[1:] - 1]),
        k=None,
        epsilon=None,
        first=ranked.squared[ranked.offsets[:-1]],
        kernel=kernel,
        shares=found.weights,
        imbalance=found.error,
    )


def listed_table(
    points: Points,
    households: NDArray[np.int64] | None = None,
    *,
    nearest: int = 200,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NeighborTable:
    """Return all pairs of a small table; of a large one each record's nearest, both ways.

    A record beyond another's nearest is listed where that one is among its own, so that the
    kernel stays symmetric. Members of one household are not listed for each other.
    """
    table = _listed(points, nearest, threads, progress)
    return table if households is None else without_household(table, households)


def _listed(
    points: Points, nearest: int, threads: int | None, progress: Progress | None
) -> NeighborTable:
    near = neighbor_table(
        points,
        k=min(nearest, len(points) - 1),
        epsilon=None,
        threads=threads,
        progress=progress,
    )
    if near.n <= LARGEST_DENSE:
        return near
    n = near.n
    row = np.repeat(np.arange(n), np.diff(near.offsets))
    there, back = row * n + near.records, near.records.astype(np.int64) * n + row
    missing = ~np.isin(back, there)
    added_row, added = near.records[missing].astype(np.int64), row[missing]
    rows = np.concatenate((row, added_row))
    records = np.concatenate((near.records, added.astype(np.int32)))
    squared = np.concatenate((near.squared, near.squared[missing]))
    order = np.lexsort((records, squared, rows))
    return NeighborTable(
        offsets=np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))),
        records=records[order],
        squared=squared[order],
        k=near.k,
        epsilon=0.0,
    )


def weigh(kernel: Kernel, table: NeighborTable) -> tuple[NeighborTable, Weights]:
    """Return the weights of all entries of a table, which a record joins as its own donor.

    Parameters
    ----------
    kernel : Kernel
        Gaussian or exponential.
    table : NeighborTable
        Each pair of records in both rows, or in none.

    Raises
    ------
    ParameterError
        No weights are small enough for the cap.
    """
    if not np.diff(table.offsets).all():
        raise ParameterError(
            "One household holds all records, so that they have no donors; leave out "
            "outside_household."
        )
    scales = kernel.scales(table)
    if kernel.own:
        table = _with_own(table)
    least = int(np.diff(table.offsets).min())
    if kernel.cap * least < 1 - 1e-9:
        raise ParameterError(
            f"cap must be at least 1/{least:,} = {1 / least:.3g} here: a record has "
            f"{least:,} possible donors."
        )
    record = np.repeat(np.arange(table.n, dtype=np.int32), np.diff(table.offsets))
    logs = kernel.logs(table.squared, scales[record] * scales[table.records])
    rows = Rows(table.offsets, table.records, logs)
    return table, balanced_weights(rows, float(kernel.cap), float(kernel.balance))


def _with_own(table: NeighborTable) -> NeighborTable:
    """Return a table in which each record stands first in its own row."""
    starts = table.offsets[:-1]
    return replace(
        table,
        offsets=table.offsets + np.arange(table.n + 1),
        records=np.insert(table.records, starts, np.arange(table.n, dtype=np.int32)),
        squared=np.insert(table.squared, starts, 0.0),
    )
