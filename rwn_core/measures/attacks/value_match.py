"""People who are alone with some values, and the released rows that have the same values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_WIDTH = 3  # columns of a set, once longer ones are joined
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MOST = 2.0**62  # combinations that a number can tell apart


class Lone:
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
        self.code, self.which, self.person = code, which, person
        self._shift = np.uint64(64 - max(int(8 * len(code)).bit_length(), 1))
        self._taken = np.zeros(2 ** int(64 - self._shift), dtype=bool)
        self._taken[self._slot(code)] = True

    def _slot(self, codes: Codes) -> Codes:
        # a product with an odd number spreads the codes over its high bits
        return ((codes.view(np.uint64) * _ODD) >> self._shift).view(np.int64)

    def find(self, codes: Codes) -> tuple[Codes, Codes]:
        """Which of the codes are among these, ascending, and the place of each here.

        One look at a table of eight slots for each code rules out most; the others are searched
        for.
        """
        maybe = np.flatnonzero(self._taken.take(self._slot(codes)))
        entry = _numbered(self.code, codes[maybe])
        found = entry >= 0
        return maybe[found], entry[found]


class Matches(NamedTuple):
    """Rows that have the values of people who are alone with them.

    Attributes
    ----------
    lone : Lone
    entry : ndarray of int64, shape (h,)
        Which of the lone people each row matches.
    row : ndarray of int64, shape (h,)
    """

    lone: Lone
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
    lone : list of Lone
        Of runs of sets.
    """

    def __init__(self, codes: Codes, sets: Sequence[Sequence[int]]) -> None:
        self.codes = codes
        self._columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        self._sizes = [int(column.max(initial=0)) + 1 for column in self._columns]
        self._nothing: int = codes.shape[1]
        self._joined: list[tuple[int, int, Codes]] = []
        self._sets: Codes = np.array([self._short(each) for each in sets], dtype=np.int64)
        self.lone = [
            _lone(np.stack([*self._codes(self._columns, part)]), part) for part in self._parts()
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

    def _parts(self) -> Iterator[slice]:
        """Runs of sets whose combinations can be told apart by one number."""
        sizes = np.array(self._sizes, dtype=np.float64)[self._sets].prod(axis=1)
        start, total = 0, 0.0
        for place, size in enumerate(sizes.tolist()):
            if total + size >= _MOST:
                yield slice(start, place)
                start, total = place, 0.0
            total += size
        if start < len(sizes):
            yield slice(start, len(sizes))

    def _codes(self, columns: Sequence[Codes], part: slice) -> Iterator[Codes]:
        """What stands for each set and a record's values, shape (n,); -1 where missing."""
        missing = [bool(column.min(initial=0) < 0) for column in columns]
        offset = 0
        for one, two, three in self._sets[part].tolist():
            wide, tall = self._sizes[two], self._sizes[three]
            code = (columns[one] * wide + columns[two]) * tall + columns[three] + offset
            if missing[one] or missing[two] or missing[three]:
                code[(columns[one] | columns[two] | columns[three]) < 0] = -1
            offset += self._sizes[one] * wide * tall
            yield code

    @cached_property
    def people(self) -> Codes:
        """How many people are alone with their values of each set, shape (sets,)."""
        counts = [np.bincount(each.which, minlength=self.count) for each in self.lone]
        return np.asarray(np.sum(counts, axis=0), dtype=np.int64)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of some values, shape (n,), over the people who are alone, shape (sets,)."""
        parts = [np.bincount(each.which, values[each.person], self.count) for each in self.lone]
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
        for part, lone in zip(self._parts(), self.lone, strict=True):
            # a set at a time, whose numbers stay where the processor has them at hand
            found = [lone.find(each) for each in self._codes(columns, part)]
            row, entry = (np.concatenate(each) for each in zip(*found, strict=True))
            yield Matches(lone, entry, row)


def _numbered(known: Codes, values: Codes) -> Codes:
    """The place of each value among ascending ones, -1 for any other."""
    if not known.size:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, -1)


def _lone(codes: Codes, part: slice) -> Lone:
    flat = codes.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 0) :]
    ordered = flat[order]
    new = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
    alone = np.flatnonzero(new[:-1] & new[1:]) if ordered.size else order[:0]
    which, person = np.divmod(order[alone], codes.shape[1])
    return Lone(ordered[alone], which + part.start, person)
