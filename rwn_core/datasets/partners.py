"""Method 2 over a dataset: every record's values come from its partners in random pairs.

Pairs are numbers of one keyed sequence, without those that came before: the pairs of a table in
memory. Slices of the sequence deal their pairs out to the ranges of both records; each range finds
the repeated ones; how far the sequence is used follows from how many there are.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.datasets.found_donors import found_of_table, release_rows
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import DEAL, load, points_like, save
from rwn_core.errors import InputError
from rwn_core.neighbors.candidates import (
    WORDS_A_BLOCK,
    numbered_pairs,
    random_others,
    table_from_pairs,
)
from rwn_core.neighbors.distance import squared_distances
from rwn_core.randomness import ISOLATED_STREAM, PAIRS_STREAM, words64

PAIR, REPEATED, STEP = "pair", "repeated", "mask-partners"
_SURE = 12  # standard deviations by which more numbers are drawn than are needed
_AT_ONCE = 1 << 15  # cipher blocks made at a time
_END = "end"


def slices(run: Run) -> list[Task]:
    """A task for each slice of the sequence."""
    n, count = run.dataset.n, len(run.ranges(PAIR))
    total, pairs = n * (n - 1) // 2, n * int(run.params.scheme.m) // 2
    twice = pairs * pairs / max(total - pairs, 1)  # more than are repeated on average
    unfair = ((1 << 64) % total) / (1 << 64)
    words = (pairs + twice + _SURE * sqrt(pairs + twice)) / (1 - unfair) + 1000
    blocks = ceil(words / WORDS_A_BLOCK)
    ends = [blocks * number // count for number in range(count + 1)]
    return [
        {"step": PAIR, "number": number, "first": ends[number], "last": ends[number + 1]}
        for number in range(count)
    ]


def draw_pairs(run: Run, task: Task) -> dict[str, Any]:
    """Draw a slice of the sequence, and deal its pairs out to the ranges of both records."""
    n, name = run.dataset.n, f"{task['number']:06d}"
    total = n * (n - 1) // 2
    fair = np.uint64((1 << 64) - (1 << 64) % total - 1)
    entries, unfair = [], []
    for first in range(task["first"], task["last"], _AT_ONCE):
        blocks = np.arange(first, min(first + _AT_ONCE, task["last"]))
        words = words64(run.key, blocks, PAIRS_STREAM).T.ravel()
        places = first * WORDS_A_BLOCK + np.arange(len(words))
        unfair.append(places[words > fair])
        places, words = places[words <= fair], words[words <= fair]
        i, j = numbered_pairs((words % np.uint64(total)).astype(np.int64) + 1)
        entries.append(np.stack([i - 1, j - 1, places]))
    i, j, places = np.concatenate(entries, axis=1)
    both = np.stack([np.append(i, j), np.append(j, i), np.append(places, places)])
    leaf = both[0] // run.rows
    order = np.argsort(leaf, kind="stable")
    counts = np.bincount(leaf, minlength=len(run.ranges(PAIR)))
    save(run, PAIR, f"{name}-ends", np.concatenate(([0], np.cumsum(counts))))
    save(run, PAIR, f"{name}-pairs", np.ascontiguousarray(both[:, order]))
    save(run, PAIR, f"{name}-left-out", np.concatenate(unfair))
    return {}


def find_repeated(run: Run, task: Task) -> dict[str, Any]:
    """Find repeated pairs with their later record in a range."""
    rows, others, places = _pairs_of_range(run, task["number"])
    mine = rows > others
    rows, others, places = rows[mine], others[mine], places[mine]
    save(run, PAIR, f"{task['number']:06d}-repeated", places[_again(rows, others, places)])
    return {}


def merge_repeated(run: Run) -> None:
    """Find the end of the sequence: where it has as many different pairs as are asked for."""
    pairs = run.dataset.n * int(run.params.scheme.m) // 2
    parts = [
        load(run, PAIR, f"{task['number']:06d}-{which}")
        for task in run.ranges(PAIR)
        for which in ("repeated", "left-out")
    ]
    left_out = np.sort(np.concatenate(parts))
    before = int(np.searchsorted(left_out - np.arange(len(left_out)), pairs))
    if pairs + before > slices(run)[-1]["last"] * WORDS_A_BLOCK:
        raise InputError("The random pairs do not suffice; run again with another key.")
    save(run, PAIR, _END, np.array([pairs + before]))


def mask_partners(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of a range with their partners' values."""
    number, ids = task["number"], np.arange(task["start"], task["stop"], dtype=np.int64)
    rows, others, places = _pairs_of_range(run, number)
    some = places < load(run, PAIR, _END)[0]
    rows, others, places = rows[some], others[some], places[some]
    new = ~_again(rows, others, places)
    rows, others = rows[new] - task["start"], others[new]
    alone = np.flatnonzero(np.bincount(rows, minlength=len(ids)) == 0)
    if len(alone):
        count = min(max(1, run.params.ball.k or 0), run.dataset.n - 1)
        given = random_others(run.key, ids[alone], run.dataset.n, count, ISOLATED_STREAM)
        rows = np.concatenate((rows, np.repeat(alone, count)))
        others = np.concatenate((others, given.ravel()))
    named, entries = np.unique(others, return_inverse=True)
    squared = _squared(run, number, rows, others)
    table = table_from_pairs(len(ids), rows, entries, squared)
    return release_rows(run, number, ids, found_of_table(run, table, ids, named))


def _pairs_of_range(run: Run, leaf: int) -> NDArray[np.int64]:
    """Rows, others and places of the pairs of a range's records, shape (3, m)."""
    parts = []
    for task in run.ranges(PAIR):
        name = f"{task['number']:06d}"
        start, stop = load(run, PAIR, f"{name}-ends")[leaf : leaf + 2]
        parts.append(load(run, PAIR, f"{name}-pairs")[:, start:stop])
    return np.concatenate(parts, axis=1)


def _again(
    rows: NDArray[np.int64], others: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """True if a pair came before in the sequence."""
    order = np.lexsort((places, others, rows))
    same = np.zeros(len(rows), dtype=bool)
    same[1:] = (np.diff(rows[order]) == 0) & (np.diff(others[order]) == 0)
    again = np.empty_like(same)
    again[order] = same
    return again


def _squared(
    run: Run, number: int, rows: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Squared distances from a range's records to others, range by range of these."""
    own = load(run, DEAL, f"{number:06d}-values")
    squared = np.empty(len(rows))
    order = np.argsort(others, kind="stable")
    for task in run.ranges(DEAL):
        low, high = np.searchsorted(others, [task["start"], task["stop"]], sorter=order)
        those = order[low:high]
        theirs = load(run, DEAL, f"{task['number']:06d}-values")
        both = points_like(run.survey_result.points, np.concatenate((own, theirs)))
        there = len(own) + others[those] - task["start"]
        squared[those] = squared_distances(both, rows[those], there)
    return squared
