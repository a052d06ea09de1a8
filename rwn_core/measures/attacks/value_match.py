"""Sample uniques on sets of variables, and the released rows with the same values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers

_WIDTH = 3  # columns of a set, once longer ones are joined
_MOST = 2.0**62  # combinations that a number can tell apart


class UniqueRecords:
    """Sample uniques on some sets of variables.

    Parameters
    ----------
    code : ndarray of int64, shape (u,)
        Number of a set and its values, ascending.
    which : ndarray of int64, shape (u,)
        Number of the set.
    person : ndarray of int64, shape (u,)
    """

    def __init__(self, code: Integers, which: Integers, person: Integers) -> None:
        from rwn_core.measures.attacks.value_match_kernel import slot_table

        self.code, self.which, self.person = code, which, person
        self._slots = slot_table(code)

    def find(self, codes: Integers) -> Matches:
        """Return the rows that match, given their `codes` of shape (sets, m)."""
        from rwn_core.measures.attacks.value_match_kernel import find_known

        row, entry = find_known(codes, self.code, self._slots)
        return Matches(self, entry, row)


class Matches(NamedTuple):
    """Rows with the values of sample uniques.

    Attributes
    ----------
    unique : UniqueRecords
    entry : ndarray of int64, shape (h,)
        Place of the sample unique that each row matches.
    row : ndarray of int64, shape (h,)
    """

    unique: UniqueRecords
    entry: Integers
    row: Integers


class Columns:
    """Sets of an original's variables and the sample uniques on them, without missing values.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, v)
        From 0; -1 where missing.
    sets : sequence of sequence of int
        Sets of variables, by position.

    Attributes
    ----------
    unique : list of UniqueRecords
        Of runs of sets.
    """

    def __init__(self, codes: Integers, sets: Sequence[Sequence[int]]) -> None:
        self.codes = codes
        self._columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        self._sizes = [int(column.max(initial=0)) + 1 for column in self._columns]
        self._nothing: int = codes.shape[1]
        self._joined: list[tuple[int, int, Integers]] = []
        self._sets: Integers = np.array([self._short(each) for each in sets], dtype=np.int64)
        self._runs = list(self._in_runs())
        self.unique = [
            _unique_records(codes, part)
            for codes, (part, _) in zip(self._codes(self._columns), self._runs, strict=True)
        ]

    def _short(self, positions: Sequence[int]) -> list[int]:
        """Return the set in `_WIDTH` columns: pairs are joined until they are so few."""
        left = list(positions)
        while len(left) > _WIDTH or np.prod([float(self._sizes[each]) for each in left]) >= _MOST:
            left = [self._join(left[0], left[1]), *left[2:]]
        return left + [self._nothing] * (_WIDTH - len(left))

    def _join(self, one: int, two: int) -> int:
        for place, (first, second, _) in enumerate(self._joined):
            if (first, second) == (one, two):
                return self._nothing + 1 + place
        pair = self._pair(self._columns, one, two)
        known = np.unique(pair[pair >= 0])
        self._joined.append((one, two, known))
        self._columns.append(_numbered(known, pair))
        self._sizes.append(max(len(known), 1))
        return len(self._columns) - 1

    def _pair(self, columns: Sequence[Integers], one: int, two: int) -> Integers:
        first, second = columns[one], columns[two]
        return np.where((first < 0) | (second < 0), -1, first * self._sizes[two] + second)

    def _in_runs(self) -> Iterator[tuple[slice, Integers]]:
        """Yield runs of sets with offsets that give each set its own range of codes."""
        sizes = [prod(self._sizes[each] for each in chosen) for chosen in self._sets.tolist()]
        offsets: list[int] = []
        start, total = 0, 0
        for place, size in enumerate(sizes):
            if total + size >= _MOST:
                yield slice(start, place), np.array(offsets)
                start, total, offsets = place, 0, []
            offsets.append(total)
            total += size
        if offsets:
            yield slice(start, len(sizes)), np.array(offsets)

    def _codes(self, columns: Sequence[Integers]) -> Iterator[Integers]:
        """Yield the codes of each set of a run, shape (sets, n)."""
        from rwn_core.measures.attacks.value_match_kernel import combinations

        stacked, sizes = np.stack(columns), np.array(self._sizes)
        for part, offsets in self._runs:
            yield combinations(stacked, sizes, self._sets[part], offsets)

    @cached_property
    def people(self) -> Integers:
        """Return the number of sample uniques on each set, shape (sets,)."""
        counts = [np.bincount(each.which, minlength=self.count) for each in self.unique]
        return np.asarray(np.sum(counts, axis=0), dtype=np.int64)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of some values, shape (n,), over the sample uniques, shape (sets,)."""
        parts = [np.bincount(each.which, values[each.person], self.count) for each in self.unique]
        return np.asarray(np.sum(parts, axis=0))

    @property
    def count(self) -> int:
        """Number of sets."""
        return len(self._sets)

    def matches(self, codes: Integers) -> Iterator[Matches]:
        """Yield the matching rows of another table, for each run of sets."""
        columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        for one, two, known in self._joined:
            columns.append(_numbered(known, self._pair(columns, one, two)))
        for unique, codes in zip(self.unique, self._codes(columns), strict=True):
            yield unique.find(codes)


def _numbered(known: Integers, values: Integers) -> Integers:
    """Return the place of each value among ascending ones, -1 for any other."""
    if not known.size:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, -1)


def _unique_records(codes: Integers, part: slice) -> UniqueRecords:
    flat = codes.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 0) :]
    ordered = flat[order]
    new = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
    alone = np.flatnonzero(new[:-1] & new[1:]) if ordered.size else order[:0]
    which, person = np.divmod(order[alone], codes.shape[1])
    return UniqueRecords(ordered[alone], which + part.start, person)
