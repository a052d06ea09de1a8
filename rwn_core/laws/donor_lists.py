"""Donor probabilities of all records, counted in blocks, and the tables of values they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.sizes import QUICK_RECORDS, STORED_NUMBERS
from rwn_core.errors import NotApplicable
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.table import Neighborhoods
from rwn_core.parallel.threads import ProgressMonitor, thread_count

if TYPE_CHECKING:
    from rwn_core.neighbors.search import SearchedTable

BLOCK = 8_000_000  # members listed at a time, unless one leaf of the tree has more
LOOKS = 16  # at whether enough is known, in one pass over the records

Column = tuple[Integers, Floats]
Part = tuple[Integers, Integers, Integers32, Floats]


class Lists(NamedTuple):
    """The possible donors of some records. All of them are given by their positions in an order."""

    records: Integers  # shape (r,)
    # begin, sizes: shape (r,): record r's list is the `sizes[r]` entries of `members` from
    # `begin[r]` on; identical records share one
    begin: Integers
    sizes: Integers
    members: Integers32
    weights: Floats  # of the entries; empty where all count the same
    totals: Floats  # shape (r,): what the weights of a record's donors sum to; above 0
    itself: bool  # whether each list has its record too, which is no donor


class _Block(NamedTuple):
    """The lists of some records, and how their members are found where they are still to be."""

    lists: Lists
    # finds the members of the leaves from one number up to another; None where all are there
    find: Callable[[int, int], None] | None
    leaves: Integers  # where each leaf's records begin in `lists`, and the last one's end


class DonorTables:
    """P(record m is the donor of a modified cell of record i), for all i and m.

    The kernel of the neighborhoods weighs their members, unless `shares`, shape (n, n), has the
    probabilities.
    """

    def __init__(
        self, neighborhoods: Neighborhoods, shares: sparse.csr_array | None = None
    ) -> None:
        self.n = neighborhoods.n
        self.watch = ProgressMonitor(threads=thread_count())
        if neighborhoods.shares is not None and neighborhoods.table.numbers is None:
            shares = neighborhoods.probabilities()
        self._neighborhoods, self._shares = neighborhoods, shares
        self._held: list[Lists] | None = None

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Row i holds each record's probability to be the donor of record i."""
        self._check()
        return self._neighborhoods.probabilities() if self._shares is None else self._shares

    def check_fits(self, columns: int, records: int | None = None) -> None:
        """Refuse so many columns, of all records or some, where no probability is 0."""
        entries = columns * (self.n if records is None else records)
        if isinstance(self._neighborhoods.table, AllDonors) and entries > 2 * STORED_NUMBERS:
            raise NotApplicable(
                f"All of {self.n:,} records are possible donors of each other, and {entries:,} "
                "probabilities are too many for this; choose bandwidth = adaptive."
            )

    def _check(self) -> None:
        if self._neighborhoods.table.numbers is not None:
            raise NotApplicable("This needs the law of every record, not of some of the file.")

    @property
    def order(self) -> Integers32:
        """The record at each position, shape (n,): near ones together, where they were searched."""
        if self._to_search is None:
            return np.arange(self.n, dtype=np.int32)
        return self._to_search.search.query.side.records

    @property
    def typical(self) -> float:
        """The mean length of a list."""
        return float(self._neighborhoods.sizes.mean())

    @property
    def _to_search(self) -> SearchedTable | None:
        from rwn_core.neighbors.search import SearchedTable

        table = self._neighborhoods.table
        return table if self._shares is None and isinstance(table, SearchedTable) else None

    def each(
        self,
        work: Callable[[Lists, int, int], None],
        *,
        any_donors: bool = True,
        records: Integers | None = None,
    ) -> None:
        """Call `work(lists, start, stop)` for ranges of the lists of all records, or of some."""
        wanted = None if records is None else np.isin(self.order, records)
        for block in self._blocks(any_donors):
            lists = block.lists
            asked = lists if wanted is None else only(lists, wanted[lists.records])
            look, count = partial(work, asked), len(asked.records)
            if block.find is not None:
                ends = np.searchsorted(asked.records, lists.records[0] + block.leaves)
                look, count = partial(_find_and_look, block.find, look, ends), len(ends) - 1
            self.watch.run(look, count)

    def blocks(self, *, any_donors: bool = True) -> Iterator[Lists]:
        """Yield blocks that hold each record once; without donors if these are not needed."""
        for block in self._blocks(any_donors):
            if block.find is not None:
                self.watch.run(block.find, len(block.leaves) - 1)
            yield block.lists

    def _blocks(self, any_donors: bool) -> Iterator[_Block]:
        """The same; where their members are still to be found, they are after each step."""
        self._check()
        if any_donors and self._held is None and self._to_search is not None:
            yield from self._searched(self._to_search)
            return
        if any_donors and isinstance(self._neighborhoods.table, AllDonors):
            yield from _all_donors(self._neighborhoods.table)
            return
        for lists in self._at_hand(any_donors):
            yield _Block(lists, None, np.empty(0, np.int64))

    def _at_hand(self, any_donors: bool) -> Iterable[Lists]:
        if not any_donors:
            return [self._alone()]
        if self._held is not None:
            return self._held
        return _cut(self._stored() if self._shares is None else _weighted(self._shares))

    def _alone(self) -> Lists:
        none = np.zeros(self.n, np.int64)
        members, ones = np.empty(0, np.int32), np.ones(self.n)
        return Lists(np.arange(self.n), none, none, members, np.empty(0), ones, False)

    def _stored(self) -> Lists:
        sizes, table = self._neighborhoods.sizes, self._neighborhoods.table
        begin, totals = table.offsets[:-1], self._neighborhoods.total
        return Lists(np.arange(self.n), begin, sizes, table.records, np.empty(0), totals, False)

    def _searched(self, table: SearchedTable) -> Iterator[_Block]:
        held: list[Lists] = []
        keep = float(self._neighborhoods.sizes.sum()) <= STORED_NUMBERS
        for block in _search(table, self._neighborhoods):
            yield block
            if keep:
                held.append(block.lists)
        if keep:
            self._held = held

    def table(self, codes: Integers, q: float) -> sparse.csr_array:
        """(1 - q) [v = own] + q P(the donor has v), for values numbered from 0, shape (n, V)."""
        order, values = self.order, int(codes.max()) + 1
        self.check_fits(values)
        short = codes[order].astype(np.int32)
        parts = [self._part(each, short, q, values) for each in self.blocks(any_donors=q > 0)]
        sizes = np.zeros(self.n, np.int64)
        for records, used, _, _ in parts:
            sizes[order[records]] = used
        starts = np.concatenate(([0], np.cumsum(sizes)))
        columns, chances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
        while parts:  # each is dropped once it is copied
            records, used, some_columns, some_chances = parts.pop()
            entries = _entries(starts[order[records]], used)
            columns[entries], chances[entries] = some_columns, some_chances
        if starts[-1] <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return sparse.csr_array((chances, columns, starts), shape=(self.n, values))

    def _part(self, lists: Lists, codes: Integers32, q: float, values: int) -> Part:
        """Return some rows of a table, in the order of their lists."""
        from rwn_core.laws.value_counts_kernel import fill_chances

        room = np.minimum(lists.sizes + 1, values)
        starts, used = np.cumsum(room) - room, np.zeros(len(room), np.int64)
        columns, chances = np.empty(room.sum(), np.int32), np.empty(room.sum())

        def fill(first: int, last: int) -> None:
            fill_chances(lists, codes, q, values, starts, used, columns, chances, first, last)

        self.watch.run(fill, len(room))
        entries = _entries(starts, used)
        return lists.records, used, columns[entries], chances[entries]

    def columns(self, codes: Sequence[Integers], q: Sequence[float], enough: float) -> list[Column]:
        """Return the estimated support size and mean probability of each value, shape (V,)."""
        tally = _Tally(self, codes, q)
        done, look = 0, 0.0
        for lists in self.blocks(any_donors=any(q)):
            tally.add(lists)
            done += len(lists.records)
            if done >= look:
                look += self.n / LOOKS
                sizes = [float(supports @ chances) for supports, chances in tally.columns()]
                tally.open = np.flatnonzero(np.array(sizes) < enough)
                if not len(tally.open):
                    break
        return tally.columns()

    def received(self, people: Integers) -> sparse.csc_array:
        """P(each of some people is the donor of each record), shape (n, people)."""
        from rwn_core.laws.value_counts_kernel import list_received, pairs_as_columns

        position = np.full(self.n, -1, np.int32)
        position[people] = np.arange(len(people))
        position = position[self.order]
        parts: list[tuple[Integers32, Integers32, Floats]] = []

        def take(lists: Lists, first: int, last: int) -> None:
            parts.append(list_received(lists, position, first, last))

        self.each(take)
        record, person, share = map(np.concatenate, zip(*parts, strict=True))
        return pairs_as_columns(record, person, share, self.order, (self.n, len(people)))

    def own_value_chance(self, codes: Sequence[Integers]) -> Floats:
        """P(the donor has the record's own value), for each of several variables, shape (u, n)."""
        from rwn_core.laws.value_counts_kernel import equal_value_shares

        table = np.array(codes, dtype=np.int32)[:, self.order]
        shares, result = np.zeros(table.shape), np.empty(table.shape)

        def share(lists: Lists, first: int, last: int) -> None:
            equal_value_shares(lists, table, shares, first, last)

        self.each(share)
        result[:, self.order] = shares
        return result


class _Tally:
    """Count the values that some blocks of records may release."""

    def __init__(self, donors: DonorTables, codes: Sequence[Integers], q: Sequence[float]) -> None:
        self._watch = donors.watch
        self._codes = np.array(codes, dtype=np.int32)[:, donors.order]
        self._q = np.array(q, dtype=np.float64)
        self._starts = np.concatenate(([0], np.cumsum(self._codes.max(axis=1) + 1, dtype=np.int64)))
        self._supports = [np.zeros(self._starts[-1], np.int64)]
        self._received = np.zeros(donors.n)
        self._step = max(1, donors.n // QUICK_RECORDS)
        self.open = np.arange(len(self._codes))

    def add(self, lists: Lists) -> None:
        """Count another block."""
        from rwn_core.laws.value_counts_kernel import add_received

        asked = only(lists, np.arange(0, len(lists.records), self._step))
        self._watch.run(partial(self._mark, asked), len(asked.records))
        add_received(asked, self._received)

    def _mark(self, lists: Lists, first: int, last: int) -> None:
        from rwn_core.laws.value_counts_kernel import mark_values

        try:  # two threads must not add to the same numbers
            supports = self._supports.pop()
        except IndexError:
            supports = np.zeros(self._starts[-1], np.int64)
        mark_values(lists, self._codes, self._q, self.open, self._starts, supports, first, last)
        self._supports.append(supports)

    def columns(self) -> list[Column]:
        """Supports and chances of every variable so far."""
        supports = np.split(self._step * np.sum(self._supports, axis=0), self._starts[1:-1])
        received = self._step * self._received
        n = len(received)
        return [
            (each, np.bincount(own, (1 - q) + q * received) / n)
            for each, own, q in zip(supports, self._codes, self._q, strict=True)
        ]


def _entries(starts: Integers, sizes: Integers) -> Integers:
    """The numbers from each start on, as many as each size says."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def _find_and_look(
    find: Callable[[int, int], None],
    look: Callable[[int, int], None],
    ends: Integers,
    leaf: int,
    last: int,
) -> None:
    """Find the members of some leaves and process them while they are in the cache."""
    find(leaf, last)
    if ends[leaf] < ends[last]:
        look(int(ends[leaf]), int(ends[last]))


def _all_donors(table: AllDonors) -> Iterator[_Block]:
    """Yield rows of weights of all records, those of some points at a time."""
    n, number = table.donors, table.places.number
    order = np.argsort(number, kind="stable")
    for low, high in table.blocks():
        weights, _ = table.rows(low, high)
        first, last = np.searchsorted(number[order], (low, high))
        records = order[first:last]
        begin, sizes = (number[records] - low) * n, np.full(len(records), n)
        members = np.tile(np.arange(n, dtype=np.int32), high - low)
        ones = np.ones(len(records))
        lists = Lists(records, begin, sizes, members, weights.ravel(), ones, False)
        yield _Block(lists, None, np.empty(0, np.int64))


def _weighted(shares: sparse.csr_array) -> Lists:
    shares = shares.copy()
    shares.eliminate_zeros()
    begin, sizes = shares.indptr[:-1].astype(np.int64), np.diff(shares.indptr).astype(np.int64)
    members, ones = shares.indices.astype(np.int32), np.ones(len(sizes))
    return Lists(np.arange(len(sizes)), begin, sizes, members, shares.data, ones, False)


def only(lists: Lists, wanted: Booleans | Integers) -> Lists:
    """Some of the lists, without a copy of their members."""
    return lists._replace(
        records=lists.records[wanted],
        begin=lists.begin[wanted],
        sizes=lists.sizes[wanted],
        totals=lists.totals[wanted],
    )


def _cut(lists: Lists) -> Iterator[Lists]:
    """The same lists in blocks, without a copy."""
    for low, high in _ranges(np.concatenate(([0], np.cumsum(lists.sizes)))):
        yield lists._replace(
            records=lists.records[low:high],
            begin=lists.begin[low:high],
            sizes=lists.sizes[low:high],
            totals=lists.totals[low:high],
        )


def _search(table: SearchedTable, neighborhoods: Neighborhoods) -> Iterator[_Block]:
    """Search for the members once more, those of some leaves of the tree at a time."""
    from rwn_core.neighbors.draw_kernel import LIST
    from rwn_core.neighbors.search_kernel import search as list_members

    search, result = table.search, table.result
    side = search.query.side
    first = side.records[side.offsets[:-1]]  # identical records have the same neighborhood
    by_k = neighborhoods.within[first] < (neighborhoods.k or 0)
    edges = np.where(by_k, result.kth[first] * (1 + TIE), search.edges)
    request = search.request(None)._replace(edges=edges, k=0)
    starts = np.concatenate(([0], np.cumsum(neighborhoods.sizes[first] + 1)))
    leaves = side.starts[len(side.starts) // 2 - 1 :]
    for low, high in _ranges(starts[leaves]):
        base, end = leaves[low], leaves[high]
        local = starts - starts[base]
        members = np.empty(local[end], np.int32)
        into = result._replace(starts=local, members=members)
        find = partial(list_members, search.query.querying, side, request, into, LIST)
        counted = local[base : end + 1]
        totals = neighborhoods.kernel.totals(np.diff(counted) - 1)
        lists = _lists(side.offsets[base : end + 1], counted, members, totals)
        records = side.offsets[leaves[low : high + 1]] - side.offsets[base]
        yield _Block(lists, partial(_find_leaves, find, low), records)


def _find_leaves(find: Callable[[int, int], None], leaf: int, one: int, two: int) -> None:
    find(leaf + one, leaf + two)


def _ranges(ends: Integers) -> Iterator[tuple[int, int]]:
    """Ranges between these ends that have at most `BLOCK` members, unless one alone has more."""
    low = 0
    while low < len(ends) - 1:
        high = int(np.searchsorted(ends, ends[low] + BLOCK, side="right")) - 1
        high = max(high, low + 1)
        yield low, high
        low = high


def _lists(offsets: Integers, starts: Integers, members: Integers32, totals: Floats) -> Lists:
    """Return the lists of the records at some positions."""
    twins, sizes = np.diff(offsets), np.diff(starts)
    return Lists(
        np.arange(offsets[0], offsets[-1]),
        np.repeat(starts[:-1], twins),
        np.repeat(sizes, twins),
        members,
        np.empty(0),
        np.repeat(totals, twins),
        True,
    )
