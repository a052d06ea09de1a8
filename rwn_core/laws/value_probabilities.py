"""The exact chances of values, counted over the donors of each record; for large tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.laws.donor_lists import Listed, Lists, only
from rwn_core.laws.sparse_columns_kernel import pairs_as_columns
from rwn_core.laws.value_counts_kernel import (
    add_received,
    fill_chances,
    list_received,
    mark_values,
    share_alike,
)

LOOKS = 16  # at whether enough is known, in one pass over the records
# decides: records of a large table that stand for all when the size of a reading is estimated
ASKED = 1000

Column = tuple[NDArray[np.int64], NDArray[np.float64]]
Part = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def value_table(listed: Listed, codes: NDArray[np.int64], q: float) -> sparse.csr_array:
    """The law of one variable, shape (n, V)."""
    order, values = listed.order, int(codes.max()) + 1
    short = codes[order].astype(np.int32)
    blocks = listed.blocks(any_donors=q > 0)
    parts = [_part(listed, lists, short, q, values) for lists in blocks]
    sizes = np.zeros(listed.n, np.int64)
    for records, used, _, _ in parts:
        sizes[order[records]] = used
    starts = np.concatenate(([0], np.cumsum(sizes)))
    columns, chances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    while parts:  # each is let go of once it is copied
        records, used, some_columns, some_chances = parts.pop()
        entries = _entries(starts[order[records]], used)
        columns[entries], chances[entries] = some_columns, some_chances
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    return sparse.csr_array((chances, columns, starts), shape=(listed.n, values))


def _part(listed: Listed, lists: Lists, codes: NDArray[np.int32], q: float, values: int) -> Part:
    """Some rows of a table, in the order of their lists."""
    room = np.minimum(lists.sizes + 1, values)
    starts, used = np.cumsum(room) - room, np.zeros(len(room), np.int64)
    columns, chances = np.empty(room.sum(), np.int32), np.empty(room.sum())

    def fill(first: int, last: int) -> None:
        fill_chances(lists, codes, q, values, starts, used, columns, chances, first, last)

    listed.watch.run(fill, len(room))
    entries = _entries(starts, used)
    return lists.records, used, columns[entries], chances[entries]


def _entries(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, as many as each size says."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def value_columns(
    listed: Listed, codes: Sequence[NDArray[np.int64]], q: Sequence[float], enough: float
) -> list[Column]:
    """About how many records may release each value, and the chance that a random one does."""
    tally = _Tally(listed, codes, q)
    done, look = 0, 0.0
    for lists in listed.blocks(any_donors=any(q)):
        tally.add(lists)
        done += len(lists.records)
        if done >= look:
            look += listed.n / LOOKS
            sizes = [float(supports @ chances) for supports, chances in tally.columns()]
            tally.open = np.flatnonzero(np.array(sizes) < enough)
            if not len(tally.open):
                break
    return tally.columns()


class _Tally:
    """Count the values that some blocks of records may release."""

    def __init__(
        self, listed: Listed, codes: Sequence[NDArray[np.int64]], q: Sequence[float]
    ) -> None:
        self._watch = listed.watch
        self._codes = np.array(codes, dtype=np.int32)[:, listed.order]
        self._q = np.array(q, dtype=np.float64)
        self._starts = np.concatenate(([0], np.cumsum(self._codes.max(axis=1) + 1, dtype=np.int64)))
        self._supports = [np.zeros(self._starts[-1], np.int64)]
        self._received = np.zeros(listed.n)
        self._step = max(1, listed.n // ASKED)
        self.open = np.arange(len(self._codes))

    def add(self, lists: Lists) -> None:
        """Count another block."""
        asked = only(lists, np.arange(0, len(lists.records), self._step))
        self._watch.run(partial(self._mark, asked), len(asked.records))
        add_received(asked, self._received)

    def _mark(self, lists: Lists, first: int, last: int) -> None:
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


def received_from(listed: Listed, people: NDArray[np.int64]) -> sparse.csc_array:
    """P(each of some people is the donor of each record), shape (n, people)."""
    position = np.full(listed.n, -1, np.int32)
    position[people] = np.arange(len(people))
    position = position[listed.order]
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]] = []

    def take(lists: Lists, first: int, last: int) -> None:
        parts.append(list_received(lists, position, first, last))

    listed.each(take)
    record, person, share = map(np.concatenate, zip(*parts, strict=True))
    return pairs_as_columns(record, person, share, listed.order, (listed.n, len(people)))


def own_value_chances(listed: Listed, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """P(the donor has the record's own value) of some variables, shape (u, n)."""
    table = np.array(codes, dtype=np.int32)[:, listed.order]
    shares, result = np.zeros(table.shape), np.empty(table.shape)

    def share(lists: Lists, first: int, last: int) -> None:
        share_alike(lists, table, shares, first, last)

    listed.each(share)
    result[:, listed.order] = shares
    return result
