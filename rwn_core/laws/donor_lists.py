"""Donor probabilities of all records, counted in blocks, and the tables of values they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.sizes import QUICK_RECORDS, STORED_NUMBERS
from rwn_core.errors import NotApplicable
from rwn_core.laws.lists import Lists
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.table import Neighborhoods, ranges
from rwn_core.parallel.threads import current_work

if TYPE_CHECKING:
    from rwn_core.neighbors.search import SearchedTable

BLOCK = 8_000_000  # members listed at a time, unless one leaf of the tree has more
LOOKS = 16  # at whether enough is known, in one pass over the records

Column = tuple[Integers, Floats]
Part = tuple[Integers, Integers, Integers32, Floats]


Step = Callable[[int, int], None]  # work on a range
_Block = tuple[Lists, Step | None, Integers]
"""The lists of some records; what finds the members of the leaves from one number up to another, or
None where all are there; and where each leaf's records begin in the lists, and the last one's end.
"""


class DonorTables:
    """The tables of P(record m is the donor of a modified cell of record i), for all i and m.

    The kernel of the neighborhoods weighs their members, unless `shares`, shape (n, n), has the
    probabilities.
    """

    def __init__(
        self, neighborhoods: Neighborhoods, shares: sparse.csr_array | None = None
    ) -> None:
        self.n = neighborhoods.n
        stored = neighborhoods.shares is not None and neighborhoods.table.numbers is None
        if stored and shares is None:
            shares = neighborhoods.probabilities()
        self.neighborhoods, self._shares = neighborhoods, shares
        self._held: list[Lists] | None = None

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Row i holds each record's probability to be the donor of record i."""
        self._check()
        return self.neighborhoods.probabilities() if self._shares is None else self._shares

    def check_fits(self, columns: int, records: int | None = None) -> None:
        """Refuse too many columns, of all records or some, where no probability is 0."""
        entries = columns * (self.n if records is None else records)
        if isinstance(self.neighborhoods.table, AllDonors) and entries > 2 * STORED_NUMBERS:
            raise NotApplicable(
                f"All of {self.n:,} records are possible donors of each other, and {entries:,} "
                "probabilities are too many for this; choose bandwidth = adaptive."
            )

    def _check(self) -> None:
        if self.neighborhoods.table.numbers is not None:
            raise NotApplicable("This needs the law of every record, not of some of the file.")

    @property
    def order(self) -> Integers32:
        """The record at each position, shape (n,): near ones together, where they were searched."""
        if self._to_search is None:
            return np.arange(self.n, dtype=np.int32)
        return self._to_search.search.query.side.records

    @property
    def _to_search(self) -> SearchedTable | None:
        from rwn_core.neighbors.search import SearchedTable

        table = self.neighborhoods.table
        if self._shares is not None or not isinstance(table, SearchedTable):
            return None
        # with groups, identical records have unlike lists
        return table if table.search.groups is None else None

    def each(
        self,
        work: Callable[[Lists, int, int], None],
        *,
        any_donors: bool = True,
        records: Integers | None = None,
    ) -> None:
        """Call `work(lists, start, stop)` for ranges of the lists of all records, or of some."""
        wanted = None if records is None else np.isin(self.order, records)
        for lists, find, leaves in self._blocks(any_donors):
            asked = lists if wanted is None else only(lists, wanted[lists.records])
            look = partial(work, asked)
            count = len(asked.records)
            if find is not None:
                ends = np.searchsorted(asked.records, lists.records[0] + leaves)
                look = partial(_find_and_look, find, look, ends)
                count = len(ends) - 1
            current_work().quiet().run(look, count)

    def blocks(self, *, any_donors: bool = True) -> Iterator[Lists]:
        """Yield blocks that hold each record once; without donors if these are not needed."""
        for lists, find, leaves in self._blocks(any_donors):
            if find is not None:
                current_work().quiet().run(find, len(leaves) - 1)
            yield lists

    def _blocks(self, any_donors: bool) -> Iterator[_Block]:
        """The same; where their members are still to be found, they are after each step."""
        self._check()
        n = self.n
        found = self.neighborhoods
        parts = self._held or []
        no = np.empty(0, np.int64)
        ones = np.ones(n)
        if any_donors and not parts and self._to_search is not None:
            keep = float(found.sizes.sum()) <= STORED_NUMBERS
            for block in _search(self._to_search, found):
                yield block
                if keep:
                    parts.append(block[0])
            self._held = parts
            return
        if any_donors and not parts and isinstance(found.table, AllDonors):
            yield from _all_donors(found.table)
            return
        if not any_donors:
            members = no.astype(np.int32)
            none = np.zeros(n, np.int64)
            parts = [Lists(np.arange(n), none, none, members, np.empty(0), ones, False)]
        elif not parts:  # what is stored, in parts without a copy
            if self._shares is None:
                begin = found.table.offsets[:-1]
                sizes = found.sizes
                members = found.table.records
                stored = Lists(np.arange(n), begin, sizes, members, np.empty(0), found.total, False)
            else:
                shares = self._shares.copy()
                shares.eliminate_zeros()
                starts = shares.indptr.astype(np.int64)
                of_each = (np.arange(n), starts[:-1], np.diff(starts))
                stored = Lists(*of_each, shares.indices.astype(np.int32), shares.data, ones, False)
            ends = spans(np.concatenate(([0], np.cumsum(stored.sizes))), BLOCK)
            parts = [only(stored, slice(low, high)) for low, high in ends]
        for lists in parts:
            yield lists, None, no

    def table(self, codes: Integers, q: float) -> sparse.csr_array:
        """(1 - q) [v = own] + q P(the donor has v), for values numbered from 0, shape (n, V)."""
        order = self.order
        values = int(codes.max()) + 1
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
            entries = ranges(starts[order[records]], used)
            columns[entries], chances[entries] = some_columns, some_chances
        if starts[-1] <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return sparse.csr_array((chances, columns, starts), shape=(self.n, values))

    def _part(self, lists: Lists, codes: Integers32, q: float, values: int) -> Part:
        """Return some rows of a table, in the order of their lists."""
        from rwn_core.laws.value_counts_kernel import ChanceEntries, fill_chances

        room = np.minimum(lists.sizes + 1, values)
        starts = np.cumsum(room) - room
        used = np.zeros(len(room), np.int64)
        columns, chances = np.empty(room.sum(), np.int32), np.empty(room.sum())
        room_for = ChanceEntries(starts, used, columns, chances)
        fill = partial(fill_chances, lists, codes, q, values, room_for)
        current_work().quiet().run(fill, len(room))
        entries = ranges(starts, used)
        return lists.records, used, columns[entries], chances[entries]

    def columns(self, codes: Sequence[Integers], q: Sequence[float], enough: float) -> list[Column]:
        """Return the estimated support size and mean probability of each value, shape (V,)."""
        from rwn_core.laws.value_counts_kernel import add_received, mark_values

        numbers = np.array(codes, dtype=np.int32)[:, self.order]
        chances = np.array(q, dtype=np.float64)
        step = max(1, self.n // QUICK_RECORDS)
        starts = np.concatenate(([0], np.cumsum(numbers.max(axis=1) + 1, dtype=np.int64)))
        supports = [np.zeros(starts[-1], np.int64)]
        received = np.zeros(self.n)
        wanted = np.arange(len(numbers))
        done = 0
        look = 0.0

        def mark(lists: Lists, wanted: Integers, first: int, last: int) -> None:
            try:  # two threads must not add to the same numbers
                own = supports.pop()
            except IndexError:
                own = np.zeros(starts[-1], np.int64)
            mark_values(lists, numbers, chances, wanted, starts, own, first, last)
            supports.append(own)

        def read() -> list[Column]:
            """Supports and chances of every variable so far."""
            each = np.split(step * np.sum(supports, axis=0), starts[1:-1])
            taken = step * received
            return [
                (support, np.bincount(own, (1 - some) + some * taken) / self.n)
                for support, own, some in zip(each, numbers, chances, strict=True)
            ]

        for lists in self.blocks(any_donors=any(q)):
            asked = only(lists, np.arange(0, len(lists.records), step))
            current_work().quiet().run(partial(mark, asked, wanted), len(asked.records))
            add_received(asked, received)
            done += len(lists.records)
            if done >= look:  # is enough known?
                look += self.n / LOOKS
                sizes = [float(support @ chance) for support, chance in read()]
                wanted = np.flatnonzero(np.array(sizes) < enough)
                if not len(wanted):
                    break
        return read()

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
        shares = np.zeros(table.shape)
        result = np.empty(table.shape)

        def share(lists: Lists, first: int, last: int) -> None:
            equal_value_shares(lists, table, shares, first, last)

        self.each(share)
        result[:, self.order] = shares
        return result


def _find_and_look(find: Step, look: Step, ends: Integers, leaf: int, last: int) -> None:
    """Find the members of some leaves and process them while they are in the cache."""
    find(leaf, last)
    if ends[leaf] < ends[last]:
        look(int(ends[leaf]), int(ends[last]))


def _all_donors(table: AllDonors) -> Iterator[_Block]:
    """Yield rows of weights of all records, those of some points at a time."""
    n = table.donors
    number = table.places.number
    order = np.argsort(number, kind="stable")
    for low, high in table.blocks():
        weights, _ = table.rows(low, high)
        first, last = np.searchsorted(number[order], (low, high))
        records = order[first:last]
        of_each = (records, (number[records] - low) * n, np.full(len(records), n))
        members = np.tile(np.arange(n, dtype=np.int32), high - low)
        lists = Lists(*of_each, members, weights.ravel(), np.ones(len(records)), False)
        yield lists, None, np.empty(0, np.int64)


def lists_of(neighborhoods: Neighborhoods, records: Integers | None = None) -> Iterator[Lists]:
    """Yield the weighted donors of records, ascending, by their numbers: of all that have any."""
    table = neighborhoods.table
    if records is None:
        records = np.arange(neighborhoods.n) if table.numbers is None else table.numbers
    if isinstance(table, AllDonors):
        for lists, _, _ in _all_donors(table):
            yield only(lists, np.isin(lists.records, records))
        return
    rows = neighborhoods.rows(records)
    starts = table.offsets[:-1]
    of_each = (records, starts[rows], neighborhoods.sizes[rows])
    weights = neighborhoods.shares
    if weights is None:  # each donor as likely as the others of its list
        share = neighborhoods.kernel.mean(1.0, neighborhoods.sizes)
        weights = np.repeat(share, np.diff(table.offsets))
    yield Lists(*of_each, table.records, weights, np.ones(len(rows)), False)


def only(lists: Lists, wanted: Booleans | Integers | slice) -> Lists:
    """Some of the lists, without a copy of their members."""
    of_each = ("records", "begin", "sizes", "totals")
    return lists._replace(**{name: getattr(lists, name)[wanted] for name in of_each})


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
    for low, high in spans(starts[leaves], BLOCK):
        base, end = leaves[low], leaves[high]
        local = starts - starts[base]
        members = np.empty(local[end], np.int32)
        into = result._replace(starts=local, members=members, sink=LIST)
        counted = local[base : end + 1]
        totals = neighborhoods.kernel.totals(np.diff(counted) - 1)
        # identical records share a list, which has them too
        offsets = side.offsets[base : end + 1]
        twins, sizes = np.diff(offsets), np.diff(counted)
        begin, each = np.repeat(counted[:-1], twins), np.repeat(sizes, twins)
        own = np.arange(offsets[0], offsets[-1])
        lists = Lists(own, begin, each, members, np.empty(0), np.repeat(totals, twins), True)
        records = side.offsets[leaves[low : high + 1]] - side.offsets[base]
        yield lists, partial(_find_leaves, partial(list_members, request, into), low), records


def _find_leaves(find: Step, leaf: int, one: int, two: int) -> None:
    find(leaf + one, leaf + two)


def spans(ends: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Yield spans between these ends with at most `most` entries, unless one alone has more."""
    low = 0
    while low < len(ends) - 1:
        high = int(np.searchsorted(ends, ends[low] + most, side="right")) - 1
        high = max(high, low + 1)
        yield low, high
        low = high
