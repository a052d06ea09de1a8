"""Looks at a dataset before it is masked: its columns, and random records in the full table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset, to_frame
from rwn_core.datasets.dataset_linkage import records_at
from rwn_core.datasets.dataset_statistics import counted, first_pass
from rwn_core.datasets.metric_of_sums import SurveyStatistics, metric_of_sums
from rwn_core.datasets.sample_donors import together
from rwn_core.neighbors.distance import TIE, Points, squared_distances
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.soft_lists import list_length
from rwn_core.parallel.threads import Progress

SHOWN = 500  # random records
# decides: records of a dataset up to which neighborhoods are of all; beyond, of `DONORS` random
# ones
LARGEST_EXACT = 5_000_000
DONORS = 20_000  # random records that the neighborhoods of a larger dataset are of

Found = tuple[NDArray[np.float64], int]
"""Of one record: squared distances up to the k-th nearest and its ties; others within epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetPreview:
    """Hold a preview of a dataset; its records are confidential originals."""

    statistics: SurveyStatistics  # of all records
    records: NDArray[np.int64]  # shape (m,): random ones, ascending, numbered from 0
    frame: pd.DataFrame  # their values
    # records that their neighborhoods are of: all of the dataset, or a random sample of it
    among: int
    radius: NDArray[np.float64]  # shape (m,): in standard deviations
    sizes: NDArray[np.int64]  # shape (m,): members of their neighborhoods, themselves left out
    within: NDArray[np.int64]  # shape (m,): how many of them lie within epsilon


def preview_dataset(
    dataset: Dataset,
    schema: Schema,
    params: Any,
    *,
    largest_exact: int = LARGEST_EXACT,
    seed: int | None = None,
    progress: Progress | None = None,
) -> DatasetPreview:
    """Look at a dataset in one pass for its columns, and one for neighborhoods."""
    advance = counted(2 * dataset.n, progress)
    known, found = first_pass(dataset, schema, advance)
    metric = metric_of_sums(
        known, found, scale=params.scale, encoding=params.encoding, weights=params.weights
    )
    numbers, n, names = np.random.default_rng(seed), dataset.n, [v.name for v in known.released]
    chosen = np.sort(numbers.choice(n, min(SHOWN, n), replace=False))
    table = records_at(dataset, chosen, names)
    frame = to_frame(table)
    shown = metric.coded(Microdata(frame, known))
    sampled = None
    if n > largest_exact:
        sampled = np.sort(numbers.choice(n, min(DONORS, n), replace=False))
    others = _others(dataset, known, metric, sampled)
    ball = params.ball
    k = ball.k or 0 if ball.kernel.is_even else list_length(n, ball.kernel.bandwidth_k)
    lists: list[Found] = [(np.empty(0), 0) for _ in chosen]
    for ids, points in others:
        both = together(points, shown)
        for row, record in enumerate(chosen.tolist()):
            near = squared_distances(
                both, np.array([len(ids) + row]), np.flatnonzero(ids != record)
            )
            lists[row] = _nearer(lists[row], near, k, ball.epsilon)
        advance(len(ids))
    radius, sizes, within = _neighborhoods(lists, k, ball.epsilon)
    return DatasetPreview(
        statistics=found,
        records=chosen,
        frame=frame,
        among=n if sampled is None else len(sampled),
        radius=radius,
        sizes=sizes,
        within=within,
    )


def random_records(
    dataset: Dataset,
    schema: Schema,
    m: int,
    *,
    seed: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Read random records of a dataset, to try settings on; direct identifiers are not read."""
    n = dataset.n
    chosen = np.sort(np.random.default_rng(seed).choice(n, min(m, n), replace=False))
    names = [variable.name for variable in schema.released]
    return to_frame(records_at(dataset, chosen, names, counted(n, progress)))


def _others(
    dataset: Dataset, schema: Schema, metric: Metric, sampled: NDArray[np.int64] | None
) -> Iterator[tuple[NDArray[np.int64], Points]]:
    """The records that may be neighbors, batch by batch, with their numbers."""
    if sampled is not None:
        names = [variable.name for variable in schema.released]
        table = records_at(dataset, sampled, names)
        yield sampled, metric.coded(Microdata(to_frame(table), schema))
        return
    for start, table in dataset.batches(schema):
        ids = np.arange(start, start + len(table), dtype=np.int64)
        yield ids, metric.coded(Microdata(to_frame(table), schema))


def _nearer(found: Found, near: NDArray[np.float64], k: int, epsilon: float | None) -> Found:
    """Take in the squared distances to further records."""
    close, within = found
    if epsilon is not None:
        within += int((near <= epsilon**2 * (1 + TIE)).sum())
    if k:
        close = np.sort(np.concatenate([close, near]))
        close = close[close <= close[min(k, len(close)) - 1] * (1 + TIE)] if len(close) else close
    return close, within


def _neighborhoods(
    lists: list[Found], k: int, epsilon: float | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Radius, size and members within epsilon of each record."""
    least = 0.0 if epsilon is None else float(epsilon)
    within = np.array([each for _, each in lists], dtype=np.int64)
    farthest = [close[min(k, len(close)) - 1] if len(close) else 0.0 for close, _ in lists]
    radius = np.maximum(np.sqrt(np.array(farthest)), least)
    tied = np.array([len(close) for close, _ in lists], dtype=np.int64)
    return radius, np.maximum(tied, within), within
