"""Columns of a dataset on the stage, from which single values are copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rwn_core.scale.record_batches import map_all
from rwn_core.scale.run import Run
from rwn_core.scale.staged_arrays import DEAL


def columns_path(run: Run, number: int) -> Path:
    """Where a range's columns are kept."""
    return run.stage.path(DEAL, f"{number:06d}-columns.arrow")


def values_of_donors(run: Run, donors: NDArray[np.int64]) -> pa.Table:
    """Fill every column from its donors, wherever in the dataset they are.

    Parameters
    ----------
    run : Run
    donors : ndarray of int64, shape (m, p)

    Returns
    -------
    pyarrow.Table
    """
    orders = np.argsort(donors, axis=0, kind="stable")
    ordered = np.take_along_axis(donors, orders, 0)
    parts: list[list[Any]] = [[] for _ in run.names]
    for task in run.ranges("columns"):
        begin, end = np.array(
            [
                np.searchsorted(ordered[:, j], [task["start"], task["stop"]])
                for j in range(len(parts))
            ]
        ).T
        if (begin == end).all() and task["number"]:
            continue
        table = map_all(columns_path(run, task["number"]))
        for j, part in enumerate(parts):
            rows = ordered[begin[j] : end[j], j] - task["start"]
            part.append(table.column(j).combine_chunks().take(pa.array(rows)))
    columns = []
    for j, part in enumerate(parts):
        back = np.empty(len(donors), np.int64)
        back[orders[:, j]] = np.arange(len(donors))
        columns.append(pa.concat_arrays(part).take(pa.array(back)))
    return pa.table(columns, names=run.names)
