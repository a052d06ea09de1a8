"""The neighbors of a bootstrap sample, cut from those of the original."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.table import NeighborTable


def without_clones(table: NeighborTable, rows: NDArray[np.int64]) -> NeighborTable:
    """The neighbors of a bootstrap sample, where a record's own copies are none of them.

    A sample holds most of its records twice or more. Copies at distance 0 would give each
    other's values, and the masking would seem weaker than it is on a sample from a population.
    """
    times = np.bincount(rows, minlength=table.n)
    first = np.concatenate(([0], np.cumsum(times)))[:-1]
    lengths = np.diff(table.offsets)[rows]
    begin = np.repeat(table.offsets[rows], lengths)
    places = begin + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    others = table.records[places]
    copies = times[others]
    total = np.concatenate(([0], np.cumsum(copies)))
    within = np.arange(total[-1]) - np.repeat(total[:-1], copies)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return NeighborTable(
        offsets=total[ends],
        records=(np.repeat(first[others], copies) + within).astype(np.int32),
        squared=np.repeat(table.squared[places], copies),
        k=table.k,
        epsilon=table.epsilon,
    )
