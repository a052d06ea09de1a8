"""Joint posterior of each person's row, given all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks.assignment import LARGEST_SCALING, SCALED, SCALING_STEPS


def jointly(source: sparse.csr_array, rows: NDArray[np.int64]) -> sparse.csr_array | None:
    """Scale posteriors (n, classes) so that each person has one row; None if too many."""
    # rows with equal keys have equal posteriors, so one row of each class, of `rows` rows in all,
    # stands for all of them (Sinkhorn and Knopp 1967)
    if source.nnz > LARGEST_SCALING or not source.nnz:
        return None
    across = source.T.tocsr()
    of_row = np.ones(source.shape[1])
    live = np.asarray(across.sum(axis=1)).ravel() > 0  # nobody can have made a row that was lost
    sizes = rows.astype(np.float64)
    for _ in range(SCALING_STEPS):
        totals = source @ (of_row * sizes)
        if not np.all(totals > 0):
            return None
        of_person = 1.0 / totals
        sums = across @ of_person
        if np.abs((sums * of_row - 1)[live]).max() < SCALED:
            break
        of_row = np.divide(1.0, sums, out=np.zeros_like(sums), where=live)
    owner = np.repeat(of_person, np.diff(source.indptr))
    data = source.data * owner * of_row[source.indices]
    return sparse.csr_array((data, source.indices, source.indptr), shape=source.shape)
