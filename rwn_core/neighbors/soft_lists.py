"""Lists of the records that a soft kernel weighs: all others, or the nearest both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates import neighbor_table
from rwn_core.neighbors.compressed_rows import Entries, Listed
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.table import LARGEST_DENSE, NeighborTable, complete_table
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import current_work, steps

LISTED = 200  # M: nearest others that the kernel of a large table weighs, both ways
AT_ONCE = 50_000  # records with their nearest in memory where few rows are listed
FEWER = "mask the table without balance, or fewer records"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftLists:
    """The lists of all records of a table or of some, and what their weights take from all."""

    # a record beyond another's nearest is listed where that one is among its own, so that the
    # kernel is symmetric
    table: NeighborTable
    # shape (n,): squared distance from each record of the table to its m-th nearest other, m being
    # the rank of the neighbor at the scale of the kernel
    scaling: Floats
    least: int  # others that every record lists at least


def entries_back(near: NeighborTable) -> Entries:
    """Return the entries of the lists of all records, each in the row of the listed record."""
    holder = np.repeat(np.arange(near.n, dtype=np.int32), np.diff(near.offsets))
    return Entries(near.records, holder, near.squared)


def list_neighbors(
    points: Points,
    scale_rank: int,
    records: Integers | None = None,
    *,
    groups: Integers | None = None,
) -> SoftLists:
    """List the others of all records, or of some, ascending, among all of a table."""
    # With `groups` those of all records: records of one do not list each other.
    if groups is not None:
        table = list_neighbors(points, scale_rank).table.without_group(groups)
        if not np.diff(table.offsets).all():
            raise ParameterError(
                "A household holds all that a record lists, so that it has no donors; leave out "
                "outside_household."
            )
        return ranked_lists(table, scale_rank)
    n = len(points)
    if n <= LARGEST_DENSE:
        lists = ranked_lists(complete_table(points), scale_rank)
        some = lists.table if records is None else lists.table.for_records(records)[0]
        return replace(lists, table=some)
    nearest = list_length(n, scale_rank)
    if records is not None:
        # the neighbors of a few records of a large table: its nearest pass by in parts
        from rwn_core.neighbors.index import build_index
        from rwn_core.neighbors.search import Search

        index = build_index(points)
        place = np.full(n, -1, np.int32)
        place[records] = np.arange(len(records))
        scaling = np.empty(n)
        least = n
        near = []
        back = []
        ball = RadiusAndK(k=nearest, epsilon=None)
        # of each part of all records: its scales, and what it adds to the lists of those records
        for part in steps(np.array_split(index.side.records, -(-n // AT_ONCE))):
            these = np.sort(part).astype(np.int64)
            found = Search.of_some(index, points, these, ball).table()
            scaling[these] = to_rank(found, scale_rank)
            least = min(least, int(np.diff(found.offsets).min()))
            # rows of those records that it holds, and that it lists
            holder = np.repeat(these.astype(np.int32), np.diff(found.offsets))
            held, listed = place[holder], place[found.records]
            mine, theirs = held >= 0, listed >= 0
            near.append(Entries(held[mine], found.records[mine], found.squared[mine]))
            back.append(Entries(listed[theirs], holder[theirs], found.squared[theirs]))
        own = grouped(joined(near), len(records))
        rows = NeighborTable(
            offsets=own.starts, records=own.records, squared=own.squared, k=nearest, numbers=records
        )
        return list_both_ways(rows, joined(back), scaling, least)
    lists = ranked_lists(neighbor_table(points, k=nearest, epsilon=None), scale_rank)
    needed = pairs_bytes(4.0 * len(lists.table.records))
    check_fits(needed, budget_bytes(), "Its weights", FEWER)
    return list_both_ways(lists.table, entries_back(lists.table), lists.scaling, lists.least)


def list_length(n: int, scale_rank: int) -> int:
    """Return how many nearest others of each record of a table are listed."""
    return n - 1 if n <= LARGEST_DENSE else min(max(LISTED, scale_rank), n - 1)


def ranked_lists(table: NeighborTable, scale_rank: int) -> SoftLists:
    """Return the lists that a table of all records holds."""
    least = int(np.diff(table.offsets).min())
    return SoftLists(table=table, scaling=to_rank(table, scale_rank), least=least)


def to_rank(table: NeighborTable, rank: int) -> Floats:
    """Return the squared distances to the others of a rank, or to the last ones, shape (n,)."""
    return table.squared[table.offsets[:-1] + np.minimum(rank, np.diff(table.offsets)) - 1]


def list_both_ways(near: NeighborTable, back: Entries, scaling: Floats, least: int) -> SoftLists:
    """Return the lists of nearest others with the records added that list each."""
    # Shape: scaling (n,).
    from rwn_core.neighbors.rank_kernel import drop_listed, merge_rows

    left = np.empty(near.n, np.int64)
    own = Listed(near.offsets, near.records, near.squared)
    added = grouped(back, near.n)
    current_work().quiet().run(partial(drop_listed, len(scaling), own, added, left), near.n)
    merged = Listed.empty(near.offsets + np.concatenate(([0], np.cumsum(left))))
    current_work().quiet().run(partial(merge_rows, own, added, merged), near.n)
    table = replace(near, offsets=merged.starts, records=merged.records, squared=merged.squared)
    return SoftLists(table=table, scaling=scaling, least=least)


def grouped(entries: Entries, rows: int) -> Listed:
    """Return entries as compressed rows, in their order within each."""
    from rwn_core.neighbors.rank_kernel import place_entries

    counts = np.bincount(entries.rows, minlength=rows)
    listed = Listed.empty(np.concatenate(([0], np.cumsum(counts))))
    place_entries(entries, listed.starts[:-1].copy(), listed)
    return listed


def joined(parts: Sequence[Entries]) -> Entries:
    """Return the entries of all parts, one after the other."""
    return Entries(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
