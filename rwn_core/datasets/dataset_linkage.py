"""Links a random sample of released rows to the original records: all of them are candidates.

Which record a released row comes from follows from the release's key alone, because the key
decides the order of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import BATCH, Dataset, to_frame
from rwn_core.datasets.dataset_statistics import Advance
from rwn_core.datasets.sample_donors import bounding_corners, together
from rwn_core.neighbors.distance import TIE, Points, squared_distances
from rwn_core.neighbors.index import build_index, shared_frame
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.neighbors.search import Search
from rwn_core.parallel.threads import ProgressMonitor
from rwn_core.randomness import ORDER_STREAM, SecretKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledLinkage:
    """Say how close some released rows are to the original records."""

    sampled: int  # released rows, drawn at random
    identical: float  # share of them that equal an original record in all variables of the distance
    nearest: float  # median distance to the nearest original record, in standard deviations
    # Share that the nearest original record is the true one of; equally near ones share it. None
    # where the key is not known.
    linked: float | None
    baseline: float  # what a guess achieves: one over the number of records


def sampled_linkage(
    tables: tuple[Dataset, Dataset],
    schema: Schema,
    metric: Metric,
    chosen: NDArray[np.int64],
    key: SecretKey | None,
    advance: Advance,
) -> SampledLinkage:
    """Link some released rows."""
    original, released = tables
    rows = chosen if key is None else released_rows(key, chosen, original.n)
    theirs = _points(released, rows, schema, metric)
    nearest, tied = np.full(len(rows), np.inf), np.zeros(len(rows), np.int64)
    own = np.zeros(len(rows)) if key is None else None
    if key is not None:
        mine = _points(original, chosen, schema, metric)
        both, one = together(theirs, mine), np.arange(len(rows))
        own = squared_distances(both, one, one + len(rows))
    for _, table in original.batches(schema):
        ours = metric.coded(Microdata(to_frame(table), schema))
        _take_in(ours, theirs, nearest, tied)
        advance(len(table))
    linked = None
    if key is not None and own is not None:
        linked = float(np.where(own <= nearest * (1 + TIE), 1 / tied, 0.0).mean())
    return SampledLinkage(
        sampled=len(rows),
        identical=float((nearest == 0).mean()),
        nearest=float(np.median(np.sqrt(nearest))),
        linked=linked,
        baseline=1 / original.n,
    )


def released_rows(key: SecretKey, records: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the places of some records in a release in secret order, shape (c,)."""
    first, second = two_uniforms(key, records, ORDER_STREAM)
    order = np.argsort(first)
    before = np.zeros(len(records), dtype=np.int64)
    for start in range(0, n, BATCH):
        every = np.arange(start, min(start + BATCH, n), dtype=np.int64)
        draws = two_uniforms(key, every, ORDER_STREAM)
        place = np.searchsorted(first[order], draws[0], side="right")
        smaller = np.bincount(place, minlength=len(records) + 1)[:-1]
        before[order] += np.cumsum(smaller)
        for other in np.flatnonzero(np.isin(draws[0], first)).tolist():
            before += (first == draws[0][other]) & (draws[1][other] < second)
    return before


def _points(dataset: Dataset, rows: NDArray[np.int64], schema: Schema, metric: Metric) -> Points:
    """Some records of a dataset as points, in the order of `rows`."""
    names = [variable.name for variable in schema.released]
    table = records_at(dataset, rows, names)
    return metric.coded(Microdata(to_frame(table), schema))


def records_at(
    dataset: Dataset,
    rows: NDArray[np.int64],
    names: Sequence[str],
    advance: Advance | None = None,
) -> pa.Table:
    """Some columns of some records of a dataset, in the order of `rows`, shape (c,)."""
    order = np.argsort(rows)
    parts = []
    for start in range(0, dataset.n, BATCH):
        stop = min(start + BATCH, dataset.n)
        low, high = np.searchsorted(rows[order], [start, stop])
        if low < high:
            table = dataset.read(start, stop, names)
            parts.append(table.take(pa.array(rows[order][low:high] - start)))
        if advance is not None:
            advance(stop - start)
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return pa.concat_tables(parts).combine_chunks().take(pa.array(back))


def _take_in(
    ours: Points, theirs: Points, nearest: NDArray[np.float64], tied: NDArray[np.int64]
) -> None:
    """Compare released rows with a batch of original records."""
    frame = shared_frame(together(bounding_corners(ours), theirs))
    target = build_index(ours, frame=frame)
    numbers = np.arange(-len(theirs), 0)  # no record is left out as its own neighbor
    query = build_index(theirs, numbers=numbers, frame=frame)
    found = Search(target, query, k=1, epsilon=None).run(ProgressMonitor())
    closer = found.nearest < nearest * (1 - TIE)
    equal = ~closer & (found.nearest <= nearest * (1 + TIE))
    tied[closer] = found.sizes[closer]
    tied[equal] += found.sizes[equal]
    np.minimum(nearest, found.nearest, out=nearest)
