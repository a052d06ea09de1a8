"""Method 1 over a dataset: every record's values come from one random sample of the records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.mechanism.donors import column_streams
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.index import build_index, frame_of
from rwn_core.neighbors.points import CodedPoints, Points, values_of
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import Watch
from rwn_core.scale.release_order import deal_rows, piece
from rwn_core.scale.run import Run, Task

STEP = "mask"


def mask_rows(run: Run, task: Task) -> dict[str, Any]:
    """Mask one range of records with donors from the sample.

    Returns
    -------
    dict
        Of the range: records whose neighborhood is empty, and those that k governs.
    """
    facts, ball = run.facts, run.params.ball
    table = run.dataset.read(task["start"], task["stop"], run.names)
    microdata = facts.microdata(table)
    ids = np.arange(task["start"], task["stop"], dtype=np.int64)
    points = facts.points_of(microdata)
    frame = frame_of(together(points, facts.points))
    query = build_index(points, numbers=ids, frame=frame)
    target = build_index(facts.points, numbers=facts.ids, frame=frame)
    search = Search(target, query, k=ball.k or 0, epsilon=ball.epsilon)
    q = run.params.draw_probability(microdata)
    result = search.run(Watch(), Drawing(key=run.key, streams=column_streams(microdata), q=q))
    masked = copy_from_sample(table, facts.sample, ids, facts.ids, result.donors)
    deal_rows(piece(run, task["number"]), masked, ids, run.key, run.files)
    governed = int((result.within < (ball.k or 0)).sum())
    return {"empty": int((result.sizes == 0).sum()), "governed": governed}


def together(one: Points, other: Points) -> Points:
    """Two tables' points, one after the other."""
    values = np.concatenate((values_of(one), values_of(other)))
    if isinstance(one, CodedPoints):
        return CodedPoints(values=values, squares=one.squares)
    return values


def copy_from_sample(
    table: pa.Table,
    sample: pa.Table,
    ids: NDArray[np.int64],
    sampled: NDArray[np.int64],
    donors: NDArray[np.int64],
) -> pa.Table:
    """Fill every column from its donors.

    Parameters
    ----------
    table, sample : pyarrow.Table
        Some records, and the sampled ones.
    ids, sampled : ndarray of int64, shape (c,) and (m,)
        Their numbers, ascending.
    donors : ndarray of int64, shape (c, p)
        The record itself where a value is kept.

    Returns
    -------
    pyarrow.Table
    """
    columns = []
    for position, name in enumerate(table.column_names):
        own = donors[:, position] == ids
        rows = np.minimum(np.searchsorted(sampled, donors[:, position]), len(sampled) - 1)
        given = sample.column(name).combine_chunks().take(pa.array(rows))
        if own.any():
            given = pc.if_else(pa.array(own), table.column(name).combine_chunks(), given)
        columns.append(given)
    return pa.table(columns, schema=table.schema)
