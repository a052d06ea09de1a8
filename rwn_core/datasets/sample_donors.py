"""Method 1 over a dataset: every record's values come from one random sample of the records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.datasets.release_order import keep_rows
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import points_like
from rwn_core.laws.donors import random_streams
from rwn_core.neighbors.distance import Points, point_values
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.index import build_index, shared_frame
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import ProgressMonitor

STEP = "mask"


def mask_rows(run: Run, task: Task) -> dict[str, Any]:
    """Mask one range of records with donors from the sample."""
    found, ball = run.survey_result, run.params.ball
    table = run.dataset.read(task["start"], task["stop"], run.names)
    microdata = found.microdata(table)
    ids = np.arange(task["start"], task["stop"], dtype=np.int64)
    points = found.to_points(microdata)
    # the least and the greatest value of each column, as two records, before those of the sample
    values = point_values(points)
    ends = points_like(points, np.stack([values.min(axis=0), values.max(axis=0)]))
    frame = shared_frame(together(ends, found.points))
    query = build_index(points, numbers=ids, frame=frame)
    # numbered below 0 in their order: a donor's number says at once where its values are
    target = build_index(found.points, numbers=np.arange(-len(found.ids), 0), frame=frame)
    # the place in the sample of each record, -1 for none
    own = np.full(len(ids), -1, dtype=np.int32)
    first, last = np.searchsorted(found.ids, [ids[0], ids[-1] + 1])
    own[found.ids[first:last] - ids[0]] = np.arange(first, last)
    search = Search(target, query, ball=ball, own=own)
    q = run.params.draw_probability(microdata)
    result = search.run(
        ProgressMonitor(), DrawRequest(key=run.key, streams=random_streams(microdata), q=q)
    )
    # Fill every column from its donors.
    columns = []
    for position, name in enumerate(table.column_names):
        retained = result.donors[:, position] >= 0
        rows = np.where(retained, 0, result.donors[:, position] + len(found.sample))
        given = found.sample.column(name).combine_chunks().take(pa.array(rows))
        if retained.any():
            given = pc.if_else(pa.array(retained), table.column(name).combine_chunks(), given)
        columns.append(given)
    masked = pa.table(columns, schema=table.schema)
    return keep_rows(run, task["number"], ids, (table, masked), result.sizes, result.within)


def together(one: Points, other: Points) -> Points:
    """Two tables' points, one after the other."""
    return points_like(one, np.concatenate((point_values(one), point_values(other))))
