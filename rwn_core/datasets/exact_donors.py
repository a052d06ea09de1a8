"""Exact neighborhoods over a dataset: each leaf's records among those of all leaves.

The search is that of a table in memory. Its index lies on the stage and is mapped: of the other
leaves only those tiles are read that some record of this one reaches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.datasets.found_donors import Found, draw_request, release_nobody, release_rows
from rwn_core.datasets.joined_index import joined_index
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.spatial_parts import common_frame, leaves_with_records, load_leaf
from rwn_core.datasets.staged_arrays import give_back
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import ProgressMonitor

STEP = "mask-leaf"


def search_of_leaf(run: Run, leaf: int, ball: RadiusAndK) -> Search:
    """Return the search for the neighbors of a leaf's records among those of all leaves."""
    frame = common_frame(run)
    query = load_leaf(run, leaf, frame)
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
        run, leaf, numbers, Found(donors=donors, sizes=found.sizes, within=found.within)
    )
