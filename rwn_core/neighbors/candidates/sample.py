"""Method 1: neighbors from a random sample of the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.candidates.assemble import cut_table, table_of_pairs
from rwn_core.neighbors.distance import squared_distances
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.table import LARGEST_DENSE, NeighborTable
from rwn_core.parallel.threads import Watch
from rwn_core.randomness import (
    OTHERS_STREAM,
    SAMPLE_STREAM,
    UNIFORMS_A_BLOCK,
    SecretKey,
    random_order,
    uniforms,
)

CROWDED = 3  # a sample of more than one in so many is drawn by ordering everybody
BLOCK_PAIRS = 1_000_000  # pairs held at a time


def sampled_table(
    points: Points,
    k: int | None,
    epsilon: Radius | None,
    *,
    m: int,
    key: SecretKey,
    watch: Watch,
) -> NeighborTable:
    """Every record's others within one random sample of m records.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
    epsilon : float or ndarray of float64, shape (n,), optional
    m : int
        Above k, at most n.
    key : SecretKey
    watch : Watch

    Returns
    -------
    NeighborTable
        Only sampled records are anybody's neighbor.
    """
    sample = np.sort(random_order(key, len(points), SAMPLE_STREAM)[:m])
    if len(points) > LARGEST_DENSE:
        from rwn_core.neighbors.tree_search import table_among

        return table_among(points, sample, k, epsilon, watch)
    rows = np.repeat(np.arange(len(points)), m)
    others = np.tile(sample, len(points))
    keep = rows != others
    return _ranked(points, rows[keep], others[keep], k, epsilon)


def fresh_sample_table(
    points: Points,
    k: int | None,
    epsilon: Radius | None,
    *,
    m: int,
    key: SecretKey,
    watch: Watch,
) -> NeighborTable:
    """Every record's others within a sample of m others of its own.

    Parameters and the result are those of `sampled_table`; m is at most n - 1.
    """
    n, step = len(points), max(1, BLOCK_PAIRS // m)
    starts = range(0, n, step)
    parts = []
    for done, start in enumerate(starts, start=1):
        records = np.arange(start, min(start + step, n))
        others = random_others(key, records, n, m, OTHERS_STREAM)
        mine = epsilon if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)[records]
        rows = np.repeat(np.arange(len(records)), m)
        squared = squared_distances(points, np.repeat(records, m), others.ravel())
        table = table_of_pairs(len(records), rows, others.ravel(), squared)
        parts.append(cut_table(table, k, mine))
        watch.report(done / len(starts))
    return _joined(parts, k, epsilon)


def _joined(tables: list[NeighborTable], k: int | None, epsilon: Radius | None) -> NeighborTable:
    """One table from those of blocks of records that follow each other."""
    lengths = np.concatenate([np.diff(table.offsets) for table in tables])
    return NeighborTable(
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        records=np.concatenate([table.records for table in tables]),
        squared=np.concatenate([table.squared for table in tables]),
        k=k or 0,
        epsilon=0.0 if epsilon is None else epsilon,
    )


def _ranked(
    points: Points,
    rows: NDArray[np.int64],
    others: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
) -> NeighborTable:
    squared = squared_distances(points, rows, others)
    return cut_table(table_of_pairs(len(points), rows, others, squared), k, epsilon)


def random_others(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    """Different others of some records, each set of m equally likely.

    Parameters
    ----------
    key : SecretKey
    records : ndarray of int64, shape (c,)
    n : int
        Records of the table.
    m : int
        At most n - 1.
    stream : int

    Returns
    -------
    ndarray of int64, shape (c, m)
    """
    if CROWDED * m > n - 1:
        others = _first_in_order(key, records, n, m, stream)
    else:
        others = _first_different(key, records, n, m, stream)
    return others + (others >= records[:, None])  # a record is not among its others


def _numbers(
    key: SecretKey, records: NDArray[np.int64], count: int, stream: int
) -> NDArray[np.float64]:
    """Uniform numbers of each record, shape (c, at least count)."""
    blocks = range(-(-count // UNIFORMS_A_BLOCK))
    return np.concatenate([uniforms(key, records, stream, block) for block in blocks]).T


def _first_in_order(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    marks = _numbers(key, records, n - 1, stream)[:, : n - 1]
    return np.argpartition(marks, m - 1, axis=1)[:, :m]


def _first_different(
    key: SecretKey, records: NDArray[np.int64], n: int, m: int, stream: int
) -> NDArray[np.int64]:
    """The first m different ones of a sequence drawn with replacement."""
    count = m
    while True:
        count += m // 4 + 8
        # 52 random bits make the bias of the product at most n / 2^52
        drawn = (_numbers(key, records, count, stream) * (n - 1)).astype(np.int64)
        order = np.argsort(drawn, axis=1, kind="stable")
        together = np.take_along_axis(drawn, order, 1)
        repeated = np.zeros(drawn.shape, dtype=bool)
        repeated[:, 1:] = together[:, 1:] == together[:, :-1]
        new = np.empty_like(repeated)
        np.put_along_axis(new, order, ~repeated, 1)
        wanted = new & (np.cumsum(new, axis=1) <= m)
        if (wanted.sum(axis=1) == m).all():
            return drawn[wanted].reshape(len(records), m)
