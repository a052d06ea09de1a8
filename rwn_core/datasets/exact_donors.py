"""Exact neighborhoods over a dataset: each leaf's records among those of all leaves.

The search is that of a table in memory. Its index lies on the stage and is mapped: of the other
leaves only those tiles are read that some record of this one reaches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.datasets.release_order import keep_rows
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.spatial_parts import (
    common_frame,
    joined_index,
    leaves_with_records,
    load_side,
)
from rwn_core.datasets.staged_arrays import give_back, values_of_donors
from rwn_core.laws.donors import random_streams
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.index import Index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import ProgressMonitor

STEP = "mask-leaf"


def search_of_leaf(run: Run, leaf: int, ball: RadiusAndK) -> Search:
    """Return the search for the neighbors of a leaf's records among those of all leaves."""
    frame = common_frame(run)
    # The index of a leaf that has records: its arrays are mapped, and read where needed.
    side = load_side(run, leaf)
    querying = side if frame.embedding is None else load_side(run, leaf, "query")
    query = Index(side=side, querying=querying, frame=frame)
    own = query.side.numbers.astype(np.int32)
    return Search(joined_index(run, frame), query, ball=ball, own=own)


def mask_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one leaf; see `release_rows` for what it answers."""
    leaf, ball = task["number"], run.params.ball
    if leaf not in leaves_with_records(run):
        return release_nobody(run, leaf)
    search = search_of_leaf(run, leaf, ball)
    numbers = search.query.side.numbers
    watch = ProgressMonitor(progress=lambda share: give_back())
    found = search.run(watch, draw_request(run))
    # no neighbor means no donor either: refused when all are counted
    donors = np.where(found.donors < 0, numbers[:, None], found.donors)
    return release_rows(
        run, leaf, numbers, FoundDonors(donors=donors, sizes=found.sizes, within=found.within)
    )


class FoundDonors(NamedTuple):
    """The donors of some records, and the sizes of their neighborhoods."""

    donors: Integers  # shape (n, p)
    # sizes, within: shape (n,): members, and those of them that lie within epsilon
    sizes: Integers
    within: Integers


def draw_request(run: Run) -> DrawRequest:
    """Return the draw request for every record."""
    nobody = Microdata(run.survey_result.sample.slice(0, 0).to_pandas(), run.survey_result.schema)
    return DrawRequest(
        key=run.key, streams=random_streams(nobody), q=run.params.draw_probability(nobody)
    )


def release_rows(run: Run, number: int, ids: Integers, found: FoundDonors) -> dict[str, Any]:
    """Copy the donors' values, and keep the rows for the files of the release."""
    masked = values_of_donors(run, found.donors)
    before = values_of_donors(run, np.repeat(ids[:, None], len(run.names), axis=1))
    return keep_rows(run, number, ids, (before, masked), found.sizes, found.within)


def release_nobody(run: Run, number: int) -> dict[str, Any]:
    """`release_rows` of a leaf without records."""
    nobody, donors = np.empty(0, np.int64), np.empty((0, len(run.names)), np.int64)
    return release_rows(
        run, number, nobody, FoundDonors(donors=donors, sizes=nobody, within=nobody)
    )
