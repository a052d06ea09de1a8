"""Merge attack: people are looked up by known values, rows by what they share with one person."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betainc

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.measures.attacks.red_team.files import Files, Names
from rwn_core.measures.attacks.red_team.finding import (
    ROUNDED_OFF,
    Finding,
    NameCounts,
    best_single_guess,
    count_names,
    link_finding,
    named_set,
    reach_in,
)

KEY = "merge"
LARGEST_SET = 8  # variables of a set that is built one by one
GROWN = 3  # sets of one variable that grow
POOL = 40  # variables with most different values, of which sets are built
PAIRED = 5  # variables with most different values that are taken in pairs
AGREE = (0.5, 0.8, 1.0)  # shares of the matching rows that show what is named: more than, at least
SURELY = 0.001  # chance of so much agreement among random rows, at most
Near = Callable[[Floats], Floats] | None


def attack(files: Files) -> list[Finding | NameCounts]:
    """Link rows by sets that grow; name secrets by keys, slices, stated, small and greedy sets."""
    return [*links(files), *names(files)]


def names(files: Files) -> list[NameCounts]:
    """Name secrets by the rows that share the values of some variables with a person."""
    found: list[NameCounts] = []
    for secret in files.secrets:
        for looked_up in sets_for(files, secret):
            found += _merged(files, looked_up, secret)
    return found


def links(files: Files) -> Iterator[Finding]:
    """Yield links of the rows that share the values of some variables with one person."""
    # Sets begin with each variable alone, and the best of them grow: an intruder sees how many rows
    # have exactly one person.
    people, rows = zip(*(_as_released(files, name) for name in files.names), strict=True)
    hashes = column_hashes(np.concatenate((np.column_stack(people), np.column_stack(rows))))
    places = range(min(len(files.names), POOL))
    found: dict[tuple[int, ...], tuple[int, float]] = {}
    read: dict[frozenset[int], tuple[int, float]] = {}

    def linked(chosen: tuple[int, ...]) -> tuple[int, float]:
        """Return the number of rows with exactly one person, and of those linked to their own."""
        classes = pd.factorize(hashes[:, chosen].sum(axis=1))[0]
        person, row = classes[: files.n], classes[files.n :]
        count = np.bincount(person, minlength=len(classes))[row]
        if files.one_record_each:
            right = (person[files.owner] == row) / np.maximum(count, 1)
            return int((count == 1).sum()), float(right.sum())
        pairs, records = np.unique(person * files.n + files.unit, return_counts=True)
        people = np.bincount(pairs // files.n, minlength=len(classes))[row]
        own = row * files.n + files.unit[files.owner]
        place = np.searchsorted(pairs, own).clip(max=len(pairs) - 1)
        right = np.where(pairs[place] == own, records[place], 0) / np.maximum(count, 1)
        return int((people == 1).sum()), float(right.sum())

    def alone(chosen: tuple[int, ...]) -> int:
        """Return the number of rows with exactly one person; of a set it is read once."""
        of_set = frozenset(chosen)
        if of_set not in read:
            read[of_set] = linked(chosen)
        found[chosen] = read[of_set]
        return found[chosen][0]

    singles: list[tuple[int, ...]] = [(place,) for place in places]
    for chosen in sorted(singles, key=lambda one: -alone(one))[:GROWN]:
        wider = chosen
        while len(wider) < LARGEST_SET:
            longer = [(*wider, place) for place in places if place not in wider]
            best = max(longer, key=alone, default=wider)
            if found[best][0] <= found[wider][0]:
                break
            wider = best
    for chosen, (_, right) in found.items():
        words = f"a merge on {named_set([files.names[place] for place in chosen])}"
        yield link_finding(KEY, words, right, files.n, files.random_share)


def _as_released(files: Files, name: str) -> tuple[Floats, Floats]:
    """Return people's values rounded to released ones, within half of the least step, and rows."""
    people, rows = (files.column(table, name) for table in (files.people, files.rows))
    grid = np.unique(rows[~np.isnan(rows)])
    if name in files.levels or len(grid) < 2:
        return people, rows
    after = np.searchsorted(grid, people).clip(1, len(grid) - 1)
    near = np.where(people - grid[after - 1] <= grid[after] - people, grid[after - 1], grid[after])
    reach = np.diff(grid).min() / 2 * (1 + ROUNDED_OFF)
    return np.where(np.abs(near - people) <= reach, near, people), rows


def sets_for(files: Files, secret: str) -> Iterator[Names]:
    """Yield the sets by which people are looked up to name a secret, each once."""
    others = _without(files.names, {secret})
    open_ones = _without(others, files.secrets)
    mates = [_without(each, {secret}) for each in files.slices if secret in each]
    wanted = [files.known, *files.stated, *mates, open_ones, others]
    wanted += [_within(each, files.known) for each in mates]
    for pool in filter(None, [files.known, open_ones, *mates]):
        wanted += files.cached(("greedy", pool), partial(greedy, files, pool))
    # each variable alone, and pairs of those with most different values
    rich = files.cached(("rich", open_ones), partial(richest, files, open_ones))
    wanted += [*combinations(rich, 1), *combinations(rich[:PAIRED], 2)]
    seen: set[frozenset[str]] = set()
    for each in wanted:
        names = _without(each, {secret})
        if names and frozenset(names) not in seen:
            seen.add(frozenset(names))
            yield names


def _without(names: Iterable[str], left_out: Container[str]) -> Names:
    """Return the names but some."""
    return tuple(name for name in names if name not in left_out)


def _within(names: Iterable[str], some: Container[str]) -> Names:
    """Return the names that are among some."""
    return tuple(name for name in names if name in some)


def richest(files: Files, pool: Names) -> Names:
    """Return the variables with most different values, the most first."""
    table = files.people[:LIVE_RECORDS][:, files.places(pool)]
    rich = [len(np.unique(column)) for column in table.T]
    return tuple(pool[j] for j in np.argsort(rich, kind="stable")[::-1][:POOL])


def greedy(files: Files, pool: Names) -> list[Names]:
    """Return sets of up to eight variables, each with the next that makes most people unique."""
    left = list(richest(files, pool))
    table = files.people[:LIVE_RECORDS][:, files.places(left)]
    hashes = dict(zip(left, column_hashes(table).T, strict=True))
    sums = np.zeros(len(table), np.uint64)
    found: list[Names] = [()]
    # until all people are unique
    while left and len(found) <= LARGEST_SET and _alone(sums)[0] < len(table):
        best = max(left, key=lambda name: _alone(sums + hashes[name]))
        left.remove(best)
        sums = sums + hashes[best]
        found.append((*found[-1], best))
    return found[1:]


def _alone(sums: NDArray[np.uint64]) -> tuple[int, int]:
    """Return the number of sample uniques, and of distinct values."""
    # Shapes: sums (n,), one number for each person.
    _, count = np.unique(sums, return_counts=True)
    return int((count == 1).sum()), len(count)


def column_hashes(table: Floats) -> NDArray[np.uint64]:
    """Return a random number for each value of a column: equal sets of values have equal sums."""
    # Shapes: table, the answer (n, p).
    rng = np.random.default_rng(7)
    found = np.empty(table.shape, np.uint64)
    for j in range(table.shape[1]):
        _, place = np.unique(table[:, j], return_inverse=True)
        numbers = rng.integers(0, 2**64, place.max(initial=0) + 1, dtype=np.uint64)
        found[:, j] = numbers[place.ravel()]
    return found


def _merged(files: Files, names: Names, secret: str) -> list[NameCounts]:
    def classes() -> Integers:  # of equal known values, of people and then of rows
        tables = (files.people, files.rows)
        both = files.cached("hashes", lambda: column_hashes(np.concatenate(tables)))
        return np.unique(both[:, files.places(names)].sum(axis=1), return_inverse=True)[1]

    class_of = files.cached(("classes", frozenset(names)), classes)
    person, row = np.split(class_of, [len(files.people)])
    values = files.column(files.rows, secret)
    truth = files.column(files.truth, secret)
    near = None if secret in files.levels else reach_in(files, secret).of
    guess, agreement = shown(row, values, person, near)
    together = np.bincount(person)[person]
    alone = together == 1
    # people named by the same rows count as one name, unless many of the rows agree
    known = ~np.isnan(values)
    size = np.bincount(row[known], minlength=max(row.max(), person.max()) + 1)[person]
    if near is None:
        often = np.bincount(values[known].astype(np.int64), minlength=1) / max(known.sum(), 1)
        base = often[np.nan_to_num(guess).astype(np.int64)]
    else:
        base = np.full(len(person), best_single_guess(truth, near(truth)))
    luck = betainc(np.maximum(agreement * size, 1), size * (1 - agreement) + 1, base)
    weights = np.where(luck <= SURELY, 1.0, 1.0 / together)
    found: list[NameCounts] = []
    for least in AGREE:
        enough = agreement > least if least == AGREE[0] else agreement >= least
        for some, who in ((enough, ""), (enough & alone, ", people alone")):
            if some.any():
                words = f"a merge on {named_set(names)}{who}"
                named = np.where(some, guess, np.nan)
                found += count_names(files, secret, named, (KEY, words), weights=weights)
    return found


def shown(row: Integers, values: Floats, person: Integers, near: Near) -> tuple[Floats, Floats]:
    """Return the value that matching rows show each person, and the share of them that agree."""
    # rows and persons of one class match; without `near`, values are levels. NaN and 0: no match
    count = int(max(row.max(initial=-1), person.max(initial=-1))) + 1
    known = ~np.isnan(values)
    row = row[known]
    values = values[known]
    order = np.lexsort((values, row))
    row = row[order]
    values = values[order]
    size = np.bincount(row, minlength=count)
    guess = np.full(count, np.nan)
    agree = np.zeros(count)
    if row.size and near is not None:
        start = np.concatenate(([0], np.cumsum(size)[:-1]))
        some = size > 0
        guess[some] = values[start[some] + (size[some] - 1) // 2]
        close = np.abs(values - guess[row]) <= near(guess)[row] + 1e-9 * np.abs(values)
        agree = np.bincount(row, close.astype(np.float64), minlength=count).astype(np.float64)
    elif row.size:
        first = np.concatenate(([True], (row[1:] != row[:-1]) | (values[1:] != values[:-1])))
        starts = np.flatnonzero(first)
        often = np.diff(np.append(starts, row.size))
        rank = np.lexsort((often, row[starts]))  # the last of each class is the most frequent
        guess[row[starts][rank]] = values[starts][rank]
        agree[row[starts][rank]] = often[rank]
    return guess[person], (agree / np.maximum(size, 1))[person]
