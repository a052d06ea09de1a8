"""Neighborhoods of soft kernels: all others of a small table, the nearest ones of a large one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwn_core.errors import ParameterError
from rwn_core.neighbors.balance import Rows, Weights, balanced_weights
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.table import NeighborTable


def weigh(kernel: Kernel, table: NeighborTable) -> tuple[NeighborTable, Weights]:
    """Return the weights of all entries of a table, which a record joins as its own donor.

    Parameters
    ----------
    kernel : Kernel
        Gaussian or exponential.
    table : NeighborTable
        Each pair of records in both rows, or in none.

    Raises
    ------
    ParameterError
        No weights are small enough for the cap.
    """
    scales = kernel.scales(table)
    if kernel.own:
        table = _with_own(table)
    least = int(np.diff(table.offsets).min())
    if kernel.cap * least < 1 - 1e-9:
        raise ParameterError(
            f"cap must be at least 1/{least:,} = {1 / least:.3g} here: a record has "
            f"{least:,} possible donors."
        )
    record = np.repeat(np.arange(table.n, dtype=np.int32), np.diff(table.offsets))
    logs = kernel.logs(table.squared, scales[record] * scales[table.records])
    rows = Rows(table.offsets, table.records, logs)
    return table, balanced_weights(rows, float(kernel.cap), float(kernel.balance))


def _with_own(table: NeighborTable) -> NeighborTable:
    """Return a table in which each record stands first in its own row."""
    starts = table.offsets[:-1]
    return replace(
        table,
        offsets=table.offsets + np.arange(table.n + 1),
        records=np.insert(table.records, starts, np.arange(table.n, dtype=np.int32)),
        squared=np.insert(table.squared, starts, 0.0),
    )
