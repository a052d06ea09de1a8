"""Statistics of a dataset in two passes over its files, with one batch of records in memory.

The first pass sums up columns and counts levels; the second one adds up products of the columns
about their means, and counts values in bins. Sums are added up in the order of the records, so
that files and their row groups change no bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind
from rwn_core.datasets.column_sums import ColumnStatistics, block_sums, merge_sums
from rwn_core.datasets.dataset import Dataset, check_rows, to_frame
from rwn_core.datasets.metric_of_sums import (
    Counts,
    SurveyStatistics,
    has_levels,
    level_counts,
    ordered_schema,
)
from rwn_core.parallel.threads import Progress

BINS = 200  # of a variable's values, of equal width from the least to the greatest
_NO_VARIATION = 1e-12  # share of a variance that rounding alone leaves

Advance = Callable[[float], None]
"""Called with the number of further records read; an exception stops the work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetStatistics:
    """Hold the statistics of a dataset."""

    n: int  # number of records
    columns: Mapping[str, ColumnStatistics]  # of numbers and dates, by name
    # records of each level, by the names of categorical and ordered variables
    levels: Mapping[str, Counts]
    numeric: tuple[str, ...]  # the continuous and count variables
    # covariance, correlation: shape (m, m): of these; each pair uses the records that have both.
    # NaN where one of a pair does not vary.
    covariance: NDArray[np.float64]
    correlation: NDArray[np.float64]
    bins: NDArray[np.int64]  # shape (m, BINS): records with a value in each bin of these

    @property
    def with_missing(self) -> list[str]:
        """The variables with a missing value."""
        known = {name: column.count for name, column in self.columns.items()}
        known |= {name: sum(counts.values()) for name, counts in self.levels.items()}
        return [name for name, count in known.items() if count < self.n]

    @property
    def shares_of_components(self) -> NDArray[np.float64]:
        """Share of the variance of each principal component of the correlations, largest first."""
        defined = ~np.isnan(np.diag(self.correlation))
        values = np.linalg.eigvalsh(np.nan_to_num(self.correlation[np.ix_(defined, defined)]))
        shares: NDArray[np.float64] = values[::-1] / max(values.sum(), 1.0)
        return shares


def counted(total: int, progress: Progress | None) -> Advance:
    """Report the share done, given what is done in steps."""
    done = 0.0

    def advance(records: float) -> None:
        nonlocal done
        done += records
        if progress is not None:
            progress(min(1.0, done / total))

    return advance


def first_pass(
    dataset: Dataset, schema: Schema, advance: Advance
) -> tuple[Schema, SurveyStatistics]:
    """First pass: statistics of columns, and the schema with levels of ordered variables."""
    released = Schema(variables=schema.released)
    numbers = [v.name for v in released.variables if not has_levels(v)]
    counted = [v.name for v in released.variables if has_levels(v)]
    sums, levels = [], {name: Counter[Any]() for name in counted}
    for start, frame in _frames(dataset, released, advance):
        check_rows(frame, released, start)
        microdata = Microdata(frame, with_levels(frame, released))
        sums.append(block_sums(microdata.matrix(numbers)))
        for name in counted:
            levels[name].update(level_counts(microdata, name))
    found = SurveyStatistics(
        n=dataset.n,
        numbers=dict(zip(numbers, merge_sums(sums), strict=True)),
        levels={name: dict(each) for name, each in levels.items()},
    )
    return ordered_schema(released, found.levels), found


def second_pass(
    dataset: Dataset,
    schema: Schema,
    found: SurveyStatistics,
    edges: Mapping[str, ColumnStatistics],
    advance: Advance,
) -> DatasetStatistics:
    """The second pass: products of columns, and counts of bins."""
    numeric = tuple(v.name for v in schema.variables if v.kind in (Kind.CONTINUOUS, Kind.COUNT))
    columns = [found.numbers[name] for name in numeric]
    means, sds = np.array([c.mean for c in columns]), np.array([c.sd for c in columns])
    scale = np.where(sds > 0, sds, 1.0)
    m = len(numeric)
    count, total, squares, products = np.zeros((4, m, m))
    bins = np.zeros((m, BINS), dtype=np.int64)
    for _, frame in _frames(dataset, schema, advance):
        values = Microdata(frame, schema).matrix(numeric)
        known = ~np.isnan(values)
        filled = np.where(known, (values - means) / scale, 0.0) * (sds > 0)
        both = known.astype(np.float64)
        count += both.T @ both
        total += filled.T @ both
        squares += (filled * filled).T @ both
        products += filled.T @ filled
        for column, name in enumerate(numeric):
            bins[column] += _counts(values[known[:, column], column], edges[name])
    pairs = np.maximum(count, 1.0)
    between = products - total * total.T / pairs
    within = squares - total**2 / pairs
    defined = np.minimum(within, within.T) > _NO_VARIATION * found.n
    spread = np.sqrt(np.where(defined, within * within.T, 1.0))
    return DatasetStatistics(
        n=found.n,
        columns=found.numbers,
        levels=found.levels,
        numeric=numeric,
        covariance=between / np.maximum(count - 1, 1.0) * np.outer(scale, scale),
        correlation=np.where(defined, np.clip(between / spread, -1.0, 1.0), np.nan),
        bins=bins,
    )


def _counts(values: NDArray[np.float64], edges: ColumnStatistics) -> NDArray[np.int64]:
    width = edges.greatest - edges.least
    if not width > 0:
        return np.bincount(np.zeros(len(values), np.int64), minlength=BINS)
    place = ((values - edges.least) / width * BINS).astype(np.int64)
    return np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS)


def _frames(dataset: Dataset, schema: Schema, advance: Advance) -> Iterator[tuple[int, Any]]:
    """The records batch by batch, with the number of the first one of each."""
    for start, table in dataset.batches(schema):
        yield start, to_frame(table)
        advance(len(table))
