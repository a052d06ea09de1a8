"""Columns of a dataset on the stage, from which single values are copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rwn_core.datasets.record_batches import map_all
from rwn_core.datasets.run import Run
from rwn_core.datasets.staged_arrays import DEAL


def columns_path(run: Run, number: int) -> Path:
    """Path of a range's columns."""
    return run.stage.path(DEAL, f"{number:06d}-columns.arrow")


def values_of_donors(run: Run, donors: NDArray[np.int64]) -> pa.Table:
    """Fill every column from its donors, wherever in the dataset they are."""
    tasks = run.ranges("columns")
    kind = np.min_scalar_type(len(tasks))  # numbers of few bits are sorted by counting
    orders, ends = [], []
    for column in donors.T:
        number = (column // run.rows).astype(kind)
        orders.append(np.argsort(number, kind="stable"))
        ends.append(np.cumsum(np.bincount(number, minlength=len(tasks))))
    parts: list[list[Any]] = [[] for _ in run.names]
    for task, until in zip(tasks, np.array(ends).T.tolist(), strict=True):
        table = map_all(columns_path(run, task["number"]))
        for j, part in enumerate(parts):
            begin = ends[j][task["number"] - 1] if task["number"] else 0
            rows = donors[orders[j][begin : until[j]], j] - task["start"]
            part.append(table.column(j).combine_chunks().take(pa.array(rows)))
    columns = []
    for part, order in zip(parts, orders, strict=True):
        back = np.empty(len(donors), np.int64)
        back[order] = np.arange(len(donors))
        columns.append(pa.concat_arrays(part).take(pa.array(back)))
    return pa.table(columns, names=run.names)
