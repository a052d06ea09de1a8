"""Merge attack: people are looked up by known values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.measures.attacks.red_team.files import Files, Names
from rwn_core.measures.attacks.red_team.finding import (
    Finding,
    Tried,
    count_names,
    named_set,
    reach,
)

KEY = "merge"
LARGEST_SET = 8  # variables of a set that is built one by one
POOL = 40  # variables with most different values, of which sets are built
AGREE = (0.5, 0.8, 1.0)  # shares of the matching rows that show what is named: more than, at least
Near = Callable[[Floats], Floats] | None


def attack(files: Files) -> list[Finding | Tried]:
    """Name a secret by merges on the keys, slices, stated sets and greedy sets."""
    found: list[Finding | Tried] = []
    for secret in files.secrets:
        for names in sets_for(files, secret):
            found += _merged(files, names, secret)
    return found


def sets_for(files: Files, secret: str) -> Iterator[Names]:
    """Yield the sets by which people are looked up to name a secret, each once."""
    others = tuple(name for name in files.names if name != secret)
    open_ones = tuple(name for name in others if name not in files.secrets)
    mates = [tuple(name for name in each if name != secret)
             for each in files.slices if secret in each]  # fmt: skip
    pools = [files.known, open_ones, *mates]
    wanted = [files.known, *files.stated, *mates, open_ones, others]
    wanted += [tuple(name for name in each if name in files.known) for each in mates]
    for pool in filter(None, pools):
        wanted += files.cached(("greedy", pool), partial(greedy, files, pool))
    seen: set[frozenset[str]] = set()
    for each in wanted:
        names = tuple(name for name in each if name != secret)
        if names and frozenset(names) not in seen:
            seen.add(frozenset(names))
            yield names


def greedy(files: Files, pool: Names) -> list[Names]:
    """Return sets of two to eight variables, each with the next that makes most people unique."""
    table = files.people[:LIVE_RECORDS][:, files.places(pool)]
    hashes = column_hashes(table)
    rich = [len(np.unique(hashes[:, j])) for j in range(len(pool))]
    left = list(np.argsort(rich, kind="stable")[::-1][:POOL])
    sums = np.zeros(len(table), np.uint64)
    chosen: list[str] = []
    found: list[Names] = []
    while left and len(chosen) < LARGEST_SET:
        alone = [_alone(sums + hashes[:, j]) for j in left]
        best = left.pop(max(range(len(left)), key=lambda at: alone[at]))
        sums = sums + hashes[:, best]
        chosen.append(pool[best])
        if len(chosen) > 1 or len(pool) == 1:
            found.append(tuple(chosen))
        if _alone(sums)[0] == len(table):
            break  # all people are unique already
    return found


def _alone(sums: NDArray[np.uint64]) -> tuple[int, int]:
    """Return the number of sample uniques, and of distinct values."""
    _, count = np.unique(sums, return_counts=True)
    return int((count == 1).sum()), len(count)


def column_hashes(table: Floats) -> NDArray[np.uint64]:
    """Return a random number for each value of a column: equal sets of values have equal sums."""
    rng, found = np.random.default_rng(7), np.empty(table.shape, np.uint64)
    for j in range(table.shape[1]):
        _, place = np.unique(table[:, j], return_inverse=True)
        numbers = rng.integers(0, 2**64, place.max(initial=0) + 1, dtype=np.uint64)
        found[:, j] = numbers[place.ravel()]
    return found


def _matched(files: Files, names: Names) -> tuple[Integers, Integers]:
    """Return the class of equal known values of each person and of each row."""
    both = files.cached("hashes", lambda: column_hashes(np.concatenate((files.people, files.rows))))
    _, classes = np.unique(both[:, files.places(names)].sum(axis=1), return_inverse=True)
    return classes[: files.n], classes[files.n :]


def _merged(files: Files, names: Names, secret: str) -> list[Tried]:
    person, row = files.cached(("classes", frozenset(names)), lambda: _matched(files, names))
    values = files.column(files.rows, secret)
    truth = files.column(files.truth, secret)
    near = None if secret in files.levels else (lambda some: reach(truth, some))
    guess, agreement = shown(row, values, person, near)
    alone = np.bincount(person)[person] == 1
    found: list[Tried] = []
    for least in AGREE:
        enough = agreement > least if least == AGREE[0] else agreement >= least
        for some, tag in ((enough, "everybody"), (enough & alone, "people alone")):
            if some.any():
                words = f"a merge on {named_set(names)}" + (", people alone" * (tag != "everybody"))
                found += count_names(files, secret, np.where(some, guess, np.nan), (KEY, words))
    return found


def shown(row: Integers, values: Floats, person: Integers, near: Near) -> tuple[Floats, Floats]:
    """Return the value that matching rows show each person, and the share of them that agree."""
    # rows and persons of one class match; without `near`, values are levels. NaN and 0: no match
    count = int(max(row.max(initial=-1), person.max(initial=-1))) + 1
    known = ~np.isnan(values)
    row, values = row[known], values[known]
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    size = np.bincount(row, minlength=count)
    guess, agree = np.full(count, np.nan), np.zeros(count)
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
