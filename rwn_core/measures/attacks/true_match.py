"""True matches: released rows with a person's known values, on sets that may be known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, islice
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, rounded
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.measures.attacks.likeliest_value import (
    Named,
    People,
    best_score,
    level_names,
    named_values,
    secret_columns,
    tolerance,
)
from rwn_core.measures.comparison import Comparison, released_rows

_WIDTH = 3  # columns of a set, once longer ones are joined
_MOST = 2.0**62  # combinations that a number can tell apart


class UniqueRecords:
    """The sample uniques on a run of sets of variables.

    Parameters
    ----------
    codes : ndarray of int64, shape (sets, n)
        Number of each set and its values, -1 where one is missing.
    before : int
        Number of sets before the run.
    units : ndarray of int64, shape (n,), optional
        Number of each record's unit.

    Attributes
    ----------
    which, person : ndarray of int64, shape (u,)
        Number of the set, and the first record with the values.
    first : ndarray of int64, shape (u,)
        Place of the first entry of the same set and person, or unit.
    truth, owner : ndarray of int64, shape (u,)
        Numbers of the true values, as in `Secret`, of each entry and of its unit.
    """

    def __init__(self, codes: Integers, before: int, units: Integers | None) -> None:
        ordered, order = _in_order(codes)
        new = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
        alone = np.flatnonzero(new[:-1] & new[1:]) if ordered.size else order[:0]
        if units is not None and ordered.size:
            begins = np.flatnonzero(new[:-1])
            unit = units[order % codes.shape[1]]
            alone = begins[np.minimum.reduceat(unit, begins) == np.maximum.reduceat(unit, begins)]
        code = ordered[alone]
        which, self.person = np.divmod(order[alone], codes.shape[1])
        self.which = which + before
        self.first = np.arange(len(code))
        self.truth = self.person
        self.owner = self.person
        self.by_unit = units is not None
        if units is not None:
            self.owner = len(units) + units[self.person]
            # further records of the unit have the values, too
            self.truth = np.where(new[alone + 1], self.person, self.owner)
            owned = np.stack((which, self.owner))
            _, first, inverse = np.unique(owned, axis=1, return_index=True, return_inverse=True)
            self.first = first[inverse.ravel()]
        self._codes = code  # ascending
        # the last bits of all codes
        self._ends = np.zeros(1 << (8 * len(code)).bit_length(), dtype=bool)
        self._ends[code & (len(self._ends) - 1)] = True

    def find(self, codes: Integers) -> Matches:
        """Return the rows that match, given their `codes` of shape (sets, m)."""
        # most codes are none of a sample unique: their last bits say so, faster than a search
        flat = codes.ravel()
        likely = np.flatnonzero(self._ends[flat & (len(self._ends) - 1)])
        if not self._codes.size:
            likely = likely[:0]
        asked = flat[likely]
        entry = np.searchsorted(self._codes, asked).clip(max=len(self._codes) - 1)
        found = self._codes[entry] == asked
        return Matches(self, entry[found], likely[found] % codes.shape[1])


def _in_order(codes: Integers) -> tuple[Integers, Integers]:
    """Return the codes that are not missing, ascending, and the place of each; the first first."""
    # Shapes: codes (sets, n), of each set larger than of those before; both answers (c,).
    sets, n = codes.shape
    bits = max(n - 1, 0).bit_length()
    if int(codes.max(initial=0)).bit_length() + bits < 63:
        # one number for a code and its record: numbers are sorted faster than places by them
        both = np.sort(codes << bits | np.arange(n), axis=1)
        known = both >= 0
        both = both[known]
        first = np.repeat(np.arange(sets) * n, np.count_nonzero(known, axis=1))
        return both >> bits, first + (both & ((1 << bits) - 1))
    flat = codes.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 0) :]
    return flat[order], order


class Matches(NamedTuple):
    """The rows with the values of sample uniques."""

    unique: UniqueRecords
    entry: Integers  # shape (h,): place of the sample unique that each row matches
    row: Integers  # shape (h,)


class KnownColumns:
    """The sets of an original's variables and the sample uniques on them, without missing values.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, v)
        From 0; -1 where missing.
    sets : sequence of sequence of int
        Sets of variables, by position.
    units : ndarray of int64, shape (n,), optional
        Number of each record's unit, such as a person.

    Attributes
    ----------
    unique : list of UniqueRecords
        Of runs of sets.
    count : int
        Number of sets.
    """

    def __init__(
        self, codes: Integers, sets: Sequence[Sequence[int]], units: Integers | None = None
    ) -> None:
        self.codes = codes
        self._columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        self._sizes = [int(column.max(initial=0)) + 1 for column in self._columns]
        self._nothing: int = codes.shape[1]
        self._joined: dict[tuple[int, int], Integers] = {}
        self._sets: Integers = np.array([self._short(each) for each in sets], dtype=np.int64)
        self.count = len(sets)
        # runs of sets with offsets that give each set its own range of codes
        self._runs: list[tuple[slice, Integers]] = []
        lengths = [prod(self._sizes[each] for each in chosen) for chosen in self._sets.tolist()]
        start = 0
        total = 0
        offsets = list[int]()
        for place, size in enumerate(lengths):
            if total + size >= _MOST:
                self._runs.append((slice(start, place), np.array(offsets)))
                start = place
                total = 0
                offsets = []
            offsets.append(total)
            total += size
        if offsets:
            self._runs.append((slice(start, len(lengths)), np.array(offsets)))
        self.unique = [
            UniqueRecords(codes, part.start, units)
            for codes, (part, _) in zip(self._codes(self._columns), self._runs, strict=True)
        ]

    def _short(self, positions: Sequence[int]) -> list[int]:
        """Return the set in `_WIDTH` columns: pairs are joined until they are so few."""
        left = list(positions)
        while len(left) > _WIDTH or np.prod([float(self._sizes[each]) for each in left]) >= _MOST:
            pair = left[0], left[1]
            if pair not in self._joined:
                values = self._pair(self._columns, *pair)
                self._joined[pair] = known = np.unique(values[values >= 0])
                self._columns.append(_numbered(known, values))
                self._sizes.append(max(len(known), 1))
            left = [self._nothing + 1 + list(self._joined).index(pair), *left[2:]]
        return left + [self._nothing] * (_WIDTH - len(left))

    def _pair(self, columns: Sequence[Integers], one: int, two: int) -> Integers:
        first, second = columns[one], columns[two]
        return np.where((first < 0) | (second < 0), -1, first * self._sizes[two] + second)

    def _codes(self, columns: Sequence[Integers]) -> Iterator[Integers]:
        """Yield the codes of each set of a run, shape (sets, n)."""
        stacked = np.stack(columns)
        sizes = np.array(self._sizes)[:, np.newaxis]
        for part, offsets in self._runs:
            _, two, three = self._sets[part].T
            first, second, third = (stacked[each] for each in self._sets[part].T)
            codes = (first * sizes[two] + second) * sizes[three] + third + offsets[:, np.newaxis]
            codes[(first | second | third) < 0] = -1
            yield codes

    @cached_property
    def people(self) -> Integers:
        """Return the number of sample uniques on each set, shape (sets,)."""
        return np.rint(self.sums(np.ones(len(self.codes)))).astype(np.int64)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of some values, shape (n,), over the sample uniques, shape (sets,)."""
        # of a unit the value of its first record with values of its own counts
        sums = np.zeros(self.count)
        for each in self.unique:
            first = np.unique(each.first) if each.by_unit else each.first
            sums += np.bincount(each.which[first], values[each.person[first]], self.count)
        return sums

    def matches(self, codes: Integers) -> Iterator[Matches]:
        """Yield the matching rows of another table, for each run of sets."""
        columns = [*codes.T, np.zeros(len(codes), dtype=np.int64)]
        for pair, known in self._joined.items():
            columns.append(_numbered(known, self._pair(columns, *pair)))
        for unique, codes in zip(self.unique, self._codes(columns), strict=True):
            yield unique.find(codes)


def _numbered(known: Integers | Floats, values: Integers | Floats) -> Integers:
    """Return the place of each value among ascending ones, -1 for any other."""
    if not known.size:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, -1)


class KnownTable:
    """The original as an intruder knows it: rounded like the release, values numbered."""

    def __init__(self, original: Microdata, precision: Steps) -> None:
        original = rounded(original, dict(precision))
        names = tuple(variable.name for variable in original.schema.released)
        self.names, self.precision = names, precision
        own = secret_columns(original, original, names)
        self.known = [np.unique(values[~np.isnan(values)]) for values in own]
        self.codes = self.numbered(original, original)
        self.n = original.n

    def numbered(self, original: Microdata, table: Microdata) -> Integers:
        """Return a table's values as numbers of the original's, -1 for any other, shape (n, v)."""
        shown = secret_columns(original, table, self.names)
        return np.column_stack(list(map(_numbered, self.known, shown)))


class Secret:
    """The released values of one confidential variable.

    With `units`, the number of each of the n records' unit, the true values of number n + u are
    those of all records of unit u.
    """

    def __init__(self, comparison: Comparison, name: str, units: Integers | None = None) -> None:
        original = comparison.original
        self.own = named_values(original, original, name)
        self.released = named_values(original, comparison.masked, name)
        self.near = tolerance(original, name)
        known = np.sort(self.released[~np.isnan(self.released)])
        reach = self.near.around(self.own)
        ends = (self.own - reach, self.own + reach)
        low, high = np.searchsorted(known, ends[0]), np.searchsorted(known, ends[1], "right")
        # how often a row drawn at random shows each person's own value
        self.by_chance = np.where(np.isnan(self.own), 0.0, (high - low) / max(len(known), 1))
        self.levels = level_names(original, comparison.masked, name)
        count = None if self.levels is None else len(self.levels)
        # the people of a level are those with a row in the file that leaves
        aligned = comparison.masked.n == original.n
        rows = released_rows(original, comparison.masked) if aligned else slice(None)
        truth = self.own[rows]
        known = ~np.isnan(truth)
        # people with a value: a unit with several values is one
        self.people = int(known.sum()) if units is None else len(np.unique(units[rows][known]))
        # of a number that has one value for most, the other values are named as one level
        values, often = np.unique(truth[known], return_counts=True)
        modal = self.levels is None and len(values) > 0 and 2 * often.max() > known.sum()
        self.usual: Floats = np.asarray(values[often.argmax()] if modal else np.nan)
        self._held: Integers | None = None
        if units is not None:
            truth = np.unique(np.stack((units[rows], truth)), axis=1)[1]
            # the values of each unit in addition
            has = np.flatnonzero(~np.isnan(self.own))
            self._n = len(units)
            self._values, rank = np.unique(self.own[has], return_inverse=True)
            size = len(self._values) + 1
            self._held, at = np.unique(units[has] * size + rank.ravel(), return_index=True)
            low, high = (each[has][at] for each in (low, high))
            unit, many = self._held // size, int(units.max()) + 1
            # values near two values of a unit count once; both ends rise with the value
            before = np.where(np.diff(unit, prepend=-1) > 0, 0, np.roll(high, 1))
            covered = np.bincount(unit, np.maximum(high - np.maximum(low, before), 0), many)
            some = np.full(many, np.nan)
            some[unit] = self._values[self._held % size]
            self.own = np.append(self.own, some)
            self.by_chance = np.append(self.by_chance, covered / max(len(known), 1))
        truth = truth[~self.near.right(truth, self.usual)]
        self.targets = People(truth=truth, near=self.near, levels=count)

    def _right(self, shown: Floats, truth: Integers) -> Booleans:
        """The marks of shown values that are the true ones, or one of the unit's."""
        # Shapes: shown, truth, the answer (m,).
        right = self.near.right(shown, self.own[truth])
        if self._held is None or not self._held.size:
            return right
        some = np.flatnonzero(truth >= self._n)
        size = len(self._values) + 1
        unit = truth[some] - self._n
        near = shown[some]
        after = np.searchsorted(self._held, unit * size + np.searchsorted(self._values, near))
        for place in (after - 1, after):  # no other value of the unit is nearer
            place = np.clip(place, 0, len(self._held) - 1)
            own, rank = np.divmod(self._held[place], size)
            right[some] |= (own == unit) & self.near.right(near, self._values[rank])
        return right

    def read(self, found: Matches, seen: Integers) -> Floats:
        """Return the share of a sample unique's matching rows that show the true value."""
        count = len(found.unique.person)
        shown = self.released[found.row]
        near = self._right(shown, found.unique.truth[found.entry])
        rows = np.bincount(found.entry, ~np.isnan(shown), count)[seen]
        return np.bincount(found.entry, near, count)[seen] / np.maximum(rows, 1)

    def name(self, found: Matches, counted: Named) -> None:
        """Add the named people, and the correctly named ones, to the counts of each set."""
        # the mode of a person's rows decides which level is named
        shown = self.released[found.row]
        known = np.flatnonzero(~np.isnan(shown) & ~self.near.right(shown, self.usual))
        entry = found.unique.first[found.entry[known]]
        shown = shown[known]
        rows = np.bincount(entry, minlength=len(found.unique.person))
        share = np.ones(len(entry))
        level = np.zeros(len(entry), np.int64) if self.levels is None else shown.astype(np.int64)
        several = np.flatnonzero(rows[entry] > 1)
        # each row's share in naming its level: the mode of a person's rows, ties share
        named = entry[several] * counted.named.shape[1] + level[several]
        pairs, pair, counts = np.unique(named, return_inverse=True, return_counts=True)
        owner = pairs // counted.named.shape[1]
        begins = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))[: len(owner)]
        if len(several):
            sizes = np.diff(np.append(begins, len(owner)))
            leads = counts == np.repeat(np.maximum.reduceat(counts, begins), sizes)
            ties = np.repeat(np.add.reduceat(leads, begins), sizes)
            share[several] = (leads / np.maximum(ties, 1) / counts)[pair.ravel()]
        which = found.unique.which[entry]
        person = found.unique.owner[entry]
        # of a person without a value nothing can be named
        share = np.where(np.isnan(self.own[person]), 0.0, share)
        right = share * self._right(shown, person)
        shape = counted.named.shape
        place = which * shape[1] + level
        for sums, each in ((counted.named, share), (counted.right, right)):
            sums += np.bincount(place, each, sums.size).reshape(shape)


# Numbers of people found by each combination, shape (sets,); of people with their true value shown,
# and of those by chance, shape (sets, confidential variables); and for each confidential variable
# names by set and level, shape (sets, levels), none for a number.
Counted = tuple[Floats, Floats, Floats, list[Named]]


def count(columns: KnownColumns, released: Integers, secrets: Sequence[Secret]) -> Counted:
    """Count the sample uniques of each set that are found in a release, shape (m, v)."""
    found, read, chance = np.zeros((3, columns.count, len(secrets) + 1))
    shapes = [(columns.count, each.targets.levels or 1) for each in secrets]
    named = [Named(right=np.zeros(shape), named=np.zeros(shape)) for shape in shapes]
    for each in columns.matches(released):
        unique = each.unique
        seen = np.flatnonzero(np.bincount(each.entry, minlength=len(unique.person)))
        first = np.unique(unique.first[seen]) if unique.by_unit else seen
        which = unique.which[first]
        found[:, 0] += np.bincount(which, minlength=columns.count)
        for number, secret in enumerate(secrets):
            right = secret.read(each, seen)
            luck = secret.by_chance[unique.truth[seen]]
            if unique.by_unit:
                # any entry of a set and unit may come true; shapes: right, luck, first[...] (m,),
                # and after it (d,), of the different numbers of first, in their order
                misses = [np.log1p(-np.minimum(some, 1 - 1e-16)) for some in (right, luck)]
                right, luck = (
                    -np.expm1(np.bincount(unique.first[seen], each)[first]) for each in misses
                )
            read[:, number] += np.bincount(which, right, columns.count)
            chance[:, number] += np.bincount(which, luck, columns.count)
            if secret.levels is not None or not np.isnan(secret.usual):
                secret.name(each, named[number])
    return found[:, 0], read[:, :-1], chance[:, :-1], named


def worst_level(
    counts: Sequence[Named], secrets: Sequence[Secret], inside: Booleans
) -> dict[str, Any]:
    """Return the set and the level with the best score, as plain data."""
    # `inside`, (sets, confidential variables): a variable that is known itself is not named
    best: dict[str, Any] = {"score": 0.0}
    for number, (secret, named) in enumerate(zip(secrets, counts, strict=True)):
        if secret.levels is None and np.isnan(secret.usual):
            continue
        right = np.where(inside[:, [number]], 0.0, named.right)
        people = secret.targets.of_level
        base = people / max(secret.people, 1)
        if secret.levels is None:  # of the people with another value the most likely one is named
            base = base * secret.targets.base
        (which, level), score = best_score(right, named.named, people, base)
        if score > best["score"]:
            best = {
                "score": score,
                "set": which,
                "secret": number,
                "level": secret.levels[level] if secret.levels else OTHERS,
                "right": float(right[which, level]),
                "named": float(named.named[which, level]),
                "people": float(people[level]),
                "base": float(base[level]),
            }
    return best


OTHERS = "any value but the most frequent one"  # of a number, as a level
VARIABLES = 3  # of a searched set
WORK = 2_000_000  # records of all searched sets together
SMALLEST = 4  # variables of a greedy set, and up to
LARGEST = 8
ENOUGH = 0.99  # share of sample uniques at which a greedy set stops growing

Names = tuple[str, ...]
Positions = tuple[int, ...]


class KnownSets(NamedTuple):
    """The sets of variables by which people are looked up."""

    sets: tuple[Names, ...]
    stated: int  # number of stated sets, which come first
    larger: int  # number of further sets of more than three variables; further ones come next
    # possible, searched: number of sets of three, and of those that were looked at
    possible: int
    searched: int
    left: int = 0  # number of sets of one or two that were not looked at


def travel_mates(names: Sequence[str], units: Sequence[Names], secrets: Names) -> tuple[Names, ...]:
    """Return the known variables of each slice with a confidential one, and all known variables."""
    mates = []
    for unit in units:
        if not set(unit).isdisjoint(secrets):
            mates.append(tuple(name for name in names if name in unit))
    return tuple(dict.fromkeys(each for each in (*mates, tuple(names)) if each))


def known_sets(
    stated: Sequence[Names],
    names: Sequence[str],
    units: Sequence[Names],
    secrets: Names,
    n: int,
    further: Sequence[Names] = (),
) -> KnownSets:
    """Return stated sets, further ones, and sets of three as far as the work allows."""
    # names with most distinct values come first; work, not time, is limited: always the same sets
    size = min(VARIABLES, len(names))
    known = {frozenset(each): tuple(dict.fromkeys(each)) for each in reversed(stated)}
    first = [known[each] for each in dict.fromkeys(map(frozenset, stated))]
    added = {frozenset(each): each for each in reversed(further) if frozenset(each) not in known}
    known |= added
    shared = sorted(units, key=lambda unit: not set(unit) & set(secrets))
    inside = (tuple(name for name in names if name in unit) for unit in shared)
    most = max(1, WORK // max(n, 1))
    # the first sets of all groups, each once: within its unit and among all none comes more often
    # than twice
    every = chain.from_iterable(combinations(group, size) for group in (*inside, tuple(names)))
    searched = list(islice(dict.fromkeys(islice(every, 2 * most)), most)) if size else []
    others = [each for each in searched if frozenset(each) not in known]
    possible = comb(len(names), size) if size else 0
    sets = (*first, *reversed(added.values()), *others)
    larger = sum(len(each) > VARIABLES for each in added)
    return KnownSets(sets, len(first), larger, possible, len(searched))


def small_sets(names: Sequence[str], n: int) -> tuple[list[Names], int]:
    """Return sets of one or two as far as the work allows, single ones first, and how many more."""
    sizes = range(1, min(2, len(names)) + 1)
    every = chain.from_iterable(combinations(names, size) for size in sizes)
    found = list(islice(every, max(1, WORK // max(n, 1))))
    return found, sum(comb(len(names), size) for size in sizes) - len(found)


def isolating_sets(codes: Integers, groups: Sequence[Positions]) -> list[Positions]:
    """Return the greedy sets with most sample uniques, of each group of variables."""
    # codes (n, v) count from 0, -1 where missing; no set follows one with nearly all people unique
    found: list[Positions] = []
    left = max(1, LISTED_PAIRS // max(len(codes), 1))
    for group in dict.fromkeys(groups):
        own = np.zeros(len(codes), np.int64)
        chosen: Positions = ()
        missing = np.zeros(len(codes), bool)
        waiting = list(group)
        while waiting and len(chosen) < LARGEST and left >= len(waiting):
            left -= len(waiting)
            tried = [_added(own, missing, codes[:, at]) for at in waiting]
            best = max(range(len(waiting)), key=lambda place: tried[place][2])
            own, missing, (alone, _) = tried[best]
            chosen = (*chosen, waiting.pop(best))
            if len(chosen) >= SMALLEST:
                found.append(chosen)
            if alone >= ENOUGH * len(codes):
                break
    return list(dict.fromkeys(found))


def _added(
    own: Integers, missing: Booleans, column: Integers
) -> tuple[Integers, Booleans, tuple[int, int]]:
    """Return combination numbers with one more variable, and (sample uniques, combinations)."""
    gone = missing | (column < 0)
    joint = np.where(gone, -1, own * (int(column.max(initial=0)) + 1) + column)
    values, number, counts = np.unique(joint, return_inverse=True, return_counts=True)
    alone = int(((counts == 1) & (values >= 0)).sum())
    return number.ravel().astype(np.int64), gone, (alone, len(values))
