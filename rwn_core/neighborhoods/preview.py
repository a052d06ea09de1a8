"""What a screen needs to follow its sliders: neighbors stored out to the sliders' ends."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighborhoods import (
    LARGEST_DENSE,
    Neighborhoods,
    NeighborTable,
    check_reach,
    find_neighborhoods,
)
from rwn_core.neighborhoods.dense import complete_table
from rwn_core.neighborhoods.parallel import Cancelled, Progress, Watch, thread_count
from rwn_core.neighborhoods.radii import Radius, one_radius
from rwn_core.neighborhoods.reach import Reach, interactive_reach

LARGEST_PAIRS = 12_000_000  # stored neighbors, 12 bytes each
TABLE_BYTES = 250e6  # most that the stored table of a whole file may take
LARGEST_WHOLE = 100_000  # records up to which all are shown
SHOWN = 5000  # records shown of a larger table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """Neighborhoods at hand for every position of the sliders.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
        Of all records.
    records : ndarray of int64, shape (m,)
        The records that are shown, ascending: all of them, or random ones of a large table.
        Their neighborhoods are those of the full table either way.
    reach : Reach
        How far the sliders go.
    table : NeighborTable
        Row r belongs to records[r].
    """

    points: NDArray[np.float64] = field(repr=False)
    records: NDArray[np.int64] = field(repr=False)
    reach: Reach
    table: NeighborTable = field(repr=False)

    @property
    def whole(self) -> bool:
        """Whether all records are shown."""
        return len(self.records) == len(self.points)

    def neighborhoods(
        self, *, k: int | None, epsilon: Radius | None, threads: int | None = None
    ) -> Neighborhoods:
        """The shown records' neighborhoods: cut from the table, or searched beyond its reach.

        Parameters
        ----------
        k : int, optional
        epsilon : float or ndarray of float64, shape (n,), optional
        threads : int, optional

        Returns
        -------
        Neighborhoods
            The same draws give the same donors, whichever way it was found.

        Raises
        ------
        ParameterError
        """
        check_reach(k, epsilon, len(self.points))
        mine = epsilon
        if epsilon is not None and not one_radius(epsilon):
            mine = np.asarray(epsilon)[self.records]
        if self.table.covers(k=k, epsilon=mine):
            return self.table.narrow(k=k, epsilon=mine)
        if self.whole:
            return find_neighborhoods(self.points, k=k, epsilon=epsilon, threads=threads)
        table = _table_of(
            self.points, self.records, k, epsilon, Watch(threads=thread_count(threads))
        )
        return table.narrow(k=k, epsilon=mine)


def build_preview(
    points: NDArray[np.float64],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Preview:
    """Store the neighbors of a table, or of 5,000 random records of a large one.

    It may run in any thread: it lets go of the interpreter's lock.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    threads : int, optional
        RWN_THREADS or all processors by default.
    progress : callable, optional
        Told the share done, from 0 to 1.
    cancel : threading.Event, optional
        Set from anywhere to stop the work within half a second.

    Returns
    -------
    Preview

    Raises
    ------
    Cancelled, ParameterError
    """
    n = len(points)
    watch = Watch(threads=thread_count(threads), progress=progress, cancel=cancel)
    records = np.arange(n)
    if n > LARGEST_WHOLE:
        records = np.sort(np.random.default_rng(0).permutation(n)[:SHOWN])
    reach = interactive_reach(points, LARGEST_PAIRS, len(records))
    watch.tell(0.0)
    if n <= LARGEST_DENSE:
        table = complete_table(points)
    else:
        table = _fitting_table(points, records, reach, watch)
    watch.tell(1.0)
    return Preview(points=points, records=records, reach=reach, table=table)


def _fitting_table(
    points: NDArray[np.float64], records: NDArray[np.int64], reach: Reach, watch: Watch
) -> NeighborTable:
    """The table out to the sliders' ends, or less far where few records have most neighbors."""
    epsilon = reach.epsilon
    while True:
        try:
            return _table_of(points, records, reach.k, epsilon, watch)
        except Cancelled:
            raise
        except ParameterError:
            epsilon /= 2
            if epsilon < reach.step:
                raise


def _table_of(
    points: NDArray[np.float64],
    records: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    watch: Watch,
) -> NeighborTable:
    from rwn_core.neighborhoods.filling import index_of
    from rwn_core.neighborhoods.tree import neighborhoods_of_some, stored_table

    if len(records) < len(points):
        index = index_of(points, None)
        return neighborhoods_of_some(index, points, records, k, epsilon, watch)
    return stored_table(points, k, epsilon, watch, TABLE_BYTES)
