"""Method 3 over a dataset: every record's values come from its own random part of the records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.datasets.found_donors import Found, draw_request, found_of_table, release_rows
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import gather_leaf, load, save
from rwn_core.neighbors.candidates import paired_table
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import Watch
from rwn_core.randomness import PARTS_STREAM, SecretKey

BOUNDS, STEP = "parts", "mask-part"
_AT_ONCE = 1 << 18  # records whose random numbers are made at a time
_BUCKETS = 1 << 16


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
    kept = [draws[:, wanted[(draws[0] * buckets).astype(np.int64)]] for draws in _draws(key, n)]
    found = np.concatenate(kept, axis=1)
    found = found[:, np.lexsort((found[1], found[0]))]
    places = np.concatenate(
        [np.arange(ends[b] - counts[b], ends[b]) for b in np.flatnonzero(wanted)] or [ranks]
    )
    return found[:, np.searchsorted(places, ranks)]


def _draws(key: SecretKey, n: int) -> Any:
    for start in range(0, n, _AT_ONCE):
        records = np.arange(start, min(start + _AT_ONCE, n), dtype=np.int64)
        yield two_uniforms(key, records, PARTS_STREAM)


def part_numbers(
    key: SecretKey, records: NDArray[np.int64], bounds: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The part of each record, shape (n,)."""
    first, second = two_uniforms(key, records, PARTS_STREAM)
    part: NDArray[np.int64] = np.searchsorted(bounds[0], first, side="right")
    before = np.maximum(part - 1, 0)
    if bounds.shape[1]:  # equal first numbers are told apart by the second ones
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
        table = paired_table(
            points,
            run.params.ball.k,
            m=int(run.params.scheme.m),
            key=run.key.derived(f"part {number}"),
        )
        found = found_of_table(run, table, ids, ids)
    return release_rows(run, number, ids, found)


def _among_all(run: Run, points: Points, ids: NDArray[np.int64]) -> Found:
    ball = run.params.ball
    search = Search(build_index(points, numbers=ids), k=ball.k or 0, epsilon=ball.epsilon)
    result = search.run(Watch(), draw_request(run))
    return Found(donors=result.donors, sizes=result.sizes, within=result.within)
