"""Soft kernels over a dataset: each leaf lists its nearest; rows of weights are made where needed.

The lists of a leaf's records take entries of all leaves, since lists are symmetric.
Distances to one neighbor of each record, and for balance a factor of each, are all that a task
knows of the others' weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Integers32
from rwn_core.datasets.exact_donors import (
    FoundDonors,
    draw_request,
    release_nobody,
    release_rows,
    search_of_leaf,
)
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.spatial_parts import leaves_with_records, load_side
from rwn_core.datasets.staged_arrays import give_back, load, save
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.soft_lists import (
    FEWER,
    Entries,
    joined,
    list_both_ways,
    list_length,
    to_rank,
)
from rwn_core.neighbors.soft_neighborhoods import column_factors, scale, soft_neighborhoods
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import ProgressMonitor

LIST, STATE, STEP = "list-leaf", "weigh-all", "mask-soft-leaf"
_ARRAYS = ("offsets", "records", "squared")


def list_leaf(run: Run, task: Task) -> dict[str, Any]:
    """List the nearest others of a leaf's records, and which leaf each of them lies in."""
    leaf = task["number"]
    leaves = leaves_with_records(run)
    if leaf not in leaves:
        return {"least": run.dataset.n}
    kernel, n = run.params.ball.kernel, run.dataset.n
    ball = RadiusAndK(k=list_length(n, kernel.bandwidth_k), epsilon=None)
    search = search_of_leaf(run, leaf, ball)
    watch = ProgressMonitor(progress=lambda share: give_back())
    near = search.table(watch)
    leaf_of = np.empty(n, np.int32)
    for each in leaves:
        leaf_of[load_side(run, each).numbers] = each
    there = leaf_of[near.records]
    for name in _ARRAYS:
        save(run, LIST, f"{leaf:06d}-{name}", getattr(near, name))
    save(run, LIST, f"{leaf:06d}-scaling", to_rank(near, kernel.bandwidth_k))
    save(run, LIST, f"{leaf:06d}-order", np.argsort(there, kind="stable"))
    ends = np.searchsorted(np.sort(there), np.arange(max(leaves) + 2))
    save(run, LIST, f"{leaf:06d}-ends", ends)
    return {"least": int(np.diff(near.offsets).min())}


def weigh_all(run: Run, task: Task) -> dict[str, Any]:
    """Gather what the weights of a row take from all records: scales, and factors of columns."""
    leaves, n, kernel = leaves_with_records(run), run.dataset.n, run.params.ball.kernel
    scaling, column, least = np.empty(n), np.zeros(n), n
    for leaf in leaves:
        scaling[load_side(run, leaf).numbers] = load(run, LIST, f"{leaf:06d}-scaling")
        answer = run.stage.answer(LIST, leaf)
        assert answer is not None
        least = min(least, int(answer["least"]))
    error = 0.0
    if kernel.balance:
        pairs = sum(len(load(run, LIST, f"{leaf:06d}-records")) for leaf in leaves)
        check_fits(pairs_bytes(8.0 * pairs), budget_bytes(), "The balance of all records", FEWER)
        near = NeighborTable.joined([_near(run, leaf) for leaf in leaves])
        column, error = column_factors(
            kernel,
            list_both_ways(
                near, Entries.back(near), kernel.bandwidth_k, scaling, least, ProgressMonitor()
            ),
        )
    save(run, STATE, "scaling", scaling)
    save(run, STATE, "column", column)
    return {"least": least, "imbalance": error}


def mask_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one leaf; see `release_rows` for what it answers."""
    leaf, leaves = task["number"], leaves_with_records(run)
    drawing = draw_request(run)
    if leaf not in leaves:
        return release_nobody(run, leaf)
    near, state = _near(run, leaf), run.stage.answer(STATE, 0)
    assert state is not None
    numbers = near.numbers
    assert numbers is not None
    place = np.full(run.dataset.n, -1, np.int32)
    place[numbers] = np.arange(len(numbers))
    back = joined([_listing(run, each, leaf, place) for each in leaves])
    kernel, scaling = run.params.ball.kernel, load(run, STATE, "scaling")
    lists = list_both_ways(
        near, back, kernel.bandwidth_k, scaling, state["least"], ProgressMonitor()
    )
    column = load(run, STATE, "column")
    neighborhoods = soft_neighborhoods(kernel, scale(kernel, lists), column=column)
    draws = Draws(run.key, numbers, drawing.streams)
    donors = draw_donors(neighborhoods, draws, np.asarray(drawing.q), threads=1)
    sizes = neighborhoods.sizes
    return release_rows(run, leaf, numbers, FoundDonors(donors=donors, sizes=sizes, within=sizes))


def _near(run: Run, leaf: int) -> NeighborTable:
    """Return the nearest others of a leaf's records."""
    offsets, records, squared = (load(run, LIST, f"{leaf:06d}-{name}") for name in _ARRAYS)
    return NeighborTable(
        offsets=offsets,
        records=records,
        squared=squared,
        k=int(np.diff(offsets).min()),
        epsilon=0.0,
        numbers=load_side(run, leaf).numbers,
    )


def _listing(run: Run, leaf: int, listed: int, place: Integers32) -> Entries:
    """Return the entries of a leaf's lists that lie in another leaf, by the rows there."""
    near = _near(run, leaf)
    assert near.numbers is not None
    first, last = load(run, LIST, f"{leaf:06d}-ends")[listed : listed + 2]
    entries = load(run, LIST, f"{leaf:06d}-order")[first:last]
    holder = near.numbers[np.searchsorted(near.offsets, entries, side="right") - 1]
    records = near.records[entries]
    give_back()
    return Entries(place[records], holder.astype(np.int32), near.squared[entries])
