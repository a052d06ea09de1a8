"""Methods 2 and 3 over a dataset: values come from partners in random pairs, or from random parts.

Pairs are numbers of one keyed sequence, without those that came before: the pairs of a table in
memory. Slices of the sequence deal their pairs out to the ranges of both records; each range finds
the repeated ones; how far the sequence is used follows from how many there are.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.datasets.found_donors import Found, draw_request, found_of_table, release_rows
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import DEAL, gather_leaf, load, points_like, save
from rwn_core.errors import InputError
from rwn_core.neighbors.candidates import (
    WORDS_A_BLOCK,
    Scheme,
    numbered_pairs,
    random_others,
    restricted_table,
)
from rwn_core.neighbors.distance import Points, squared_distances
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.threads import ProgressMonitor
from rwn_core.randomness import ISOLATED_STREAM, PAIRS_STREAM, PARTS_STREAM, SecretKey, words64

PAIR, REPEATED, PARTNERS = "pair", "repeated", "mask-partners"
BOUNDS, PART = "parts", "mask-part"
_SURE = 12  # standard deviations by which more numbers are drawn than are needed
_BLOCKS_AT_ONCE = 1 << 15  # cipher blocks made at a time
_END = "end"
_RECORDS_AT_ONCE = 1 << 18  # records that get their random numbers at a time
_BUCKETS = 1 << 16


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
    for first in range(task["first"], task["last"], _BLOCKS_AT_ONCE):
        blocks = np.arange(first, min(first + _BLOCKS_AT_ONCE, task["last"]))
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
    table = NeighborTable.ranked(len(ids), rows, entries, squared)
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


def find_bounds(run: Run, task: Task) -> dict[str, Any]:
    """Find between which random numbers the parts lie; see `part_bounds`."""
    save(run, BOUNDS, "bounds", part_bounds(run.key, run.dataset.n, run.leaves))
    return {}


def part_bounds(key: SecretKey, n: int, u: int) -> NDArray[np.float64]:
    """The random numbers of the first record of each part but the first one, shape (2, u - 1)."""
    # Parts are those of `rwn_core.neighbors.candidates.random_parts`. Records are counted in
    # buckets of their first number; only buckets with a bound in them are put into order.
    sizes = np.full(u, n // u) + (np.arange(u) < n % u)
    ranks = np.cumsum(sizes)[:-1]
    buckets = max(_BUCKETS, 1 << (64 * u).bit_length())
    counts = np.zeros(buckets, dtype=np.int64)
    for draws in _draws(key, n):
        counts += np.bincount((draws[0] * buckets).astype(np.int64), minlength=buckets)
    ends = np.cumsum(counts)
    wanted = np.zeros(buckets, dtype=bool)
    wanted[np.searchsorted(ends, ranks, side="right")] = True
    drawn = [draws[:, wanted[(draws[0] * buckets).astype(np.int64)]] for draws in _draws(key, n)]
    found = np.concatenate(drawn, axis=1)
    found = found[:, np.lexsort((found[1], found[0]))]
    places = np.concatenate(
        [np.arange(ends[b] - counts[b], ends[b]) for b in np.flatnonzero(wanted)] or [ranks]
    )
    return found[:, np.searchsorted(places, ranks)]


def _draws(key: SecretKey, n: int) -> Any:
    for start in range(0, n, _RECORDS_AT_ONCE):
        records = np.arange(start, min(start + _RECORDS_AT_ONCE, n), dtype=np.int64)
        yield two_uniforms(key, records, PARTS_STREAM)


def part_numbers(
    key: SecretKey, records: NDArray[np.int64], bounds: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The part of each record, shape (n,)."""
    first, second = two_uniforms(key, records, PARTS_STREAM)
    part: NDArray[np.int64] = np.searchsorted(bounds[0], first, side="right")
    before = np.maximum(part - 1, 0)
    if bounds.shape[1]:  # second numbers separate equal first ones
        part -= (part > 0) & (bounds[0][before] == first) & (second < bounds[1][before])
    return part


def numbers_of_range(run: Run, start: int, stop: int) -> NDArray[np.int64]:
    """The parts of a range of records."""
    records = np.arange(start, stop, dtype=np.int64)
    return part_numbers(run.key, records, load(run, BOUNDS, "bounds"))


def mask_part(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one part among each other."""
    number = task["number"]
    points, ids = gather_leaf(run, number, task["ranges"])
    if run.params.scheme.m is None:
        found = _among_all(run, points, ids)
    else:
        pairs = Scheme(neighbors="pairs", m=run.params.scheme.m)
        key = run.key.derived(f"part {number}")
        table = restricted_table(points, run.params.ball, pairs, key, ProgressMonitor())
        found = found_of_table(run, table, ids, ids)
    return release_rows(run, number, ids, found)


def _among_all(run: Run, points: Points, ids: NDArray[np.int64]) -> Found:
    ball = run.params.ball
    search = Search(build_index(points, numbers=ids), k=ball.k or 0, epsilon=ball.epsilon)
    result = search.run(ProgressMonitor(), draw_request(run))
    return Found(donors=result.donors, sizes=result.sizes, within=result.within)
