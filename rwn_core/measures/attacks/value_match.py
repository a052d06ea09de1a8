"""People who are alone with some values, and the released rows that have the same values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_WIDTH = 3  # columns of a set, once longer ones are joined
_MOST = 2.0**62  # combinations that a number can tell apart


class UniqueRecords:
    """The people who are alone with their values of some sets of variables.

    Parameters
    ----------
    code : ndarray of int64, shape (u,)
        What stands for a set and its values, ascending.
    which : ndarray of int64, shape (u,)
        The number of the set.
    person : ndarray of int64, shape (u,)
    """

    def __init__(self, code: Codes, which: Codes, person: Codes) -> None:
        from rwn_core.measures.attacks.value_match_kernel import slots_of

        self.code, self.which, self.person = code, which, person
        self._slots = slots_of(code)

    def find(self, codes: Codes) -> Matches:
        """The rows of a table that some of them match, by their `codes` of shape (sets, m)."""
        from rwn_core.measures.attacks.value_match_kernel import find_known

        row, entry = find_known(codes, self.code, self._slots)
        return Matches(self, entry, row)


class Matches(NamedTuple):
    """Rows that have the values of people who are alone with them.

    Attributes
    ----------
    unique : UniqueRecords
    entry : ndarray of int64, shape (h,)
        Which of the sample uniques each row matches.
    row : ndarray of int64, shape (h,)
    """

    unique: UniqueRecords
    entry: Codes
    row: Codes


class Columns:
    """Sets of an original's variables, and who is alone with all of his values of them.

    Who has a missing value among them is not.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, v)
        From 0; -1 where missing.
    sets : sequence of sequence of int
        Variables that are looked at together, by position.

    Attributes
    ----------
    unique : list of UniqueRecords
        Of runs of sets.
    """

    def __init__(self, codes: Codes, sets: Sequence[Sequence[int]]) -> None:
        self.codes = codes
        self._columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        self._sizes = [int(column.max(initial=0)) + 1 for column in self._columns]
        self._nothing: int = codes.shape[1]
        self._joined: list[tuple[int, int, Codes]] = []
        self._sets: Codes = np.array([self._short(each) for each in sets], dtype=np.int64)
        self._runs = list(self._in_runs())
        self.unique = [
            _unique_records(codes, part)
            for codes, (part, _) in zip(self._codes(self._columns), self._runs, strict=True)
        ]

    def _short(self, positions: Sequence[int]) -> list[int]:
        """The same set in `_WIDTH` columns: two are joined until they are so few."""
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

    def _pair(self, columns: Sequence[Codes], one: int, two: int) -> Codes:
        first, second = columns[one], columns[two]
        return np.where((first < 0) | (second < 0), -1, first * self._sizes[two] + second)

    def _in_runs(self) -> Iterator[tuple[slice, Codes]]:
        """Runs of sets whose combinations one number tells apart, and what is added to each."""
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

    def _codes(self, columns: Sequence[Codes]) -> Iterator[Codes]:
        """What stands for each set of a run and a record's values, shape (sets, n)."""
        from rwn_core.measures.attacks.value_match_kernel import combinations

        stacked, sizes = np.stack(columns), np.array(self._sizes)
        for part, offsets in self._runs:
            yield combinations(stacked, sizes, self._sets[part], offsets)

    @cached_property
    def people(self) -> Codes:
        """How many people are alone with their values of each set, shape (sets,)."""
        counts = [np.bincount(each.which, minlength=self.count) for each in self.unique]
        return np.asarray(np.sum(counts, axis=0), dtype=np.int64)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of some values, shape (n,), over the people who are alone, shape (sets,)."""
        parts = [np.bincount(each.which, values[each.person], self.count) for each in self.unique]
        return np.asarray(np.sum(parts, axis=0))

    @property
    def count(self) -> int:
        """How many sets there are."""
        return len(self._sets)

    def matches(self, codes: Codes) -> Iterator[Matches]:
        """The rows of another table with the same values.

        Parameters
        ----------
        codes : ndarray of int64, shape (m, v)
            Numbers of the original's values; -1 for any other.

        Yields
        ------
        Matches
            Of a run of sets.
        """
        columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        for one, two, known in self._joined:
            columns.append(_numbered(known, self._pair(columns, one, two)))
        for unique, codes in zip(self.unique, self._codes(columns), strict=True):
            yield unique.find(codes)


def _numbered(known: Codes, values: Codes) -> Codes:
    """The place of each value among ascending ones, -1 for any other."""
    if not known.size:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, -1)


def _unique_records(codes: Codes, part: slice) -> UniqueRecords:
    flat = codes.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 0) :]
    ordered = flat[order]
    new = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
    alone = np.flatnonzero(new[:-1] & new[1:]) if ordered.size else order[:0]
    which, person = np.divmod(order[alone], codes.shape[1])
    return UniqueRecords(ordered[alone], which + part.start, person)
