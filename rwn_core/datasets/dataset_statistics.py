"""Statistics of a dataset: exact sums of its columns, and the metric that they make.

Sums are added up in the order of the records, so that files and their row groups change no bit.

Statistics of a dataset's columns from sums of blocks, and the metric that they make.

Centers and scales agree with those of a table in memory up to the last digits of a float64. They
cannot change which records are neighbors: distances closer than 1e-9 count as equal.

Means, spreads and extremes of columns from sums of blocks, the same however rows are dealt out.

A block is `BLOCK` records that follow each other in the dataset. Its sums depend on its records
alone, and the blocks are added up exactly and rounded once: not a bit of the result depends on
files, tasks or workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import level_text
from rwn_core.data.variable import Kind
from rwn_core.errors import InputError, ParameterError
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.neighbors.metric import (
    SMALLEST_SQUARED,
    Axis,
    Metric,
    category_axes,
    discrete_weights,
    number_axes,
    weighted_variables,
)
from rwn_core.parallel.threads import current_work

Advance = Callable[[float], None]
"""Called with the number of further records read; an exception stops the work."""
BLOCK = 1024  # records that are summed up at once; a task begins at a multiple of it
AT_ONCE = 16  # blocks

Sums = Floats
"""Of each block and column: count, sum, squares about the block's mean, least, greatest value."""
Counts = Mapping[Any, int]
"""Records of each level."""


def counted(total: float) -> Advance:
    """Report the share done, given what is done in steps."""
    report = current_work().report
    done = 0.0

    def advance(records: float) -> None:
        nonlocal done
        done += records
        report(min(1.0, done / total))

    return advance


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """The statistics of a column of numbers that a metric needs."""

    count: int  # records with a value
    mean: float  # 0 where there are none
    sd: float  # divisor count - 1; 0 for fewer than two, and exactly 0 where all are equal
    width: float  # of the least to the greatest value


def block_sums(values: Floats) -> Sums:
    """Sum up the blocks of some columns."""
    # values: shape (n, p); sums: (5, blocks, p)
    parts = range(0, max(len(values), 1), AT_ONCE * BLOCK)
    sums = [_sums(values[start : start + AT_ONCE * BLOCK]) for start in parts]
    return np.concatenate(sums, axis=1)


def _sums(values: Floats) -> Sums:
    """`block_sums` of few enough blocks for the processor's cache."""
    rows, columns = values.shape
    blocks = -(-rows // BLOCK)
    padded = np.full((columns, blocks * BLOCK), np.nan)
    padded[:, :rows] = values.T
    padded = padded.reshape(columns, blocks, BLOCK)
    known = ~np.isnan(padded)
    count = known.sum(axis=2)
    filled = np.where(known, padded, 0.0)
    total = filled.sum(axis=2)
    mean = total / np.maximum(count, 1)
    deviation = np.where(known, filled - mean[:, :, None], 0.0)
    return np.stack(
        [
            count.T,
            total.T,
            (deviation * deviation).sum(axis=2).T,
            np.where(known, filled, np.inf).min(axis=2).T,
            np.where(known, filled, -np.inf).max(axis=2).T,
        ]
    )


def merge_sums(parts: Sequence[Sums]) -> list[ColumnStatistics]:
    """Statistics of whole columns from the sums of all their blocks, in order."""
    sums = np.concatenate(parts, axis=1)
    found = []
    for column in np.moveaxis(sums, 2, 0):
        known = column[:, column[0] > 0]
        counts, totals, within = known[:3]
        count = int(counts.sum())
        mean = math.fsum(totals.tolist()) / max(count, 1)
        apart = totals / counts - mean
        squares = math.fsum([*within.tolist(), *(counts * apart * apart).tolist()])
        found.append(_statistics(count, mean, squares, known[3:].ravel()))
    return found


def _statistics(count: int, mean: float, squares: float, extremes: Floats) -> ColumnStatistics:
    # extremes: shape (b,)
    width = float(np.ptp(extremes)) if len(extremes) else 0.0
    sd = math.sqrt(squares / (count - 1)) if count > 1 and width > 0 else 0.0
    return ColumnStatistics(count=count, mean=mean, sd=sd, width=width)


def level_counts(microdata: Microdata, name: str) -> Counts:
    """Records of each level that occurs."""
    codes, levels = microdata.codes(name)
    records = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
    return {level: count for level, count in zip(levels, records, strict=True) if count}


def metric_of_sums(
    schema: Schema,
    n: int,
    numbers: Mapping[str, ColumnStatistics],
    levels: Mapping[str, Counts],
    params: NeighborhoodMethod,
) -> Metric:
    """Make the metric of a dataset of n records, from its columns of numbers and of levels."""
    for variable in schema.released:
        counts = levels.get(variable.name)
        if not (sum(counts.values()) if counts is not None else numbers[variable.name].count):
            raise InputError(
                f"Column {variable.name} has no values; remove it or set its role to identifier."
            )
    if params.weights == "discrete":
        schema = schema.with_weights(discrete_weights(schema, n))

    axes: list[Axis] = []
    for variable in weighted_variables(schema):
        if variable.kind is Kind.CATEGORICAL:
            # levels in their order with their records, what is missing last
            counts = levels[variable.name]
            known = [(level, counts[level]) for level in sorted(counts)]
            missing = None, n - sum(counts.values())
            axes += category_axes([*known, missing], variable, params.scale, params.encoding)
        else:
            column = numbers.get(variable.name)
            if column is None:  # level numbers of an ordered variable, which occur so many times
                counted = {level_text(level): n for level, n in levels[variable.name].items()}
                each = np.array(
                    [counted.get(level, 0) for level in variable.levels or ()], np.int64
                )
                values = np.arange(len(each), dtype=np.float64)
                total = int(each.sum())
                mean = math.fsum((values * each).tolist()) / max(total, 1)
                squares = math.fsum((each * (values - mean) ** 2).tolist())
                column = _statistics(total, mean, squares, values[each > 0])
            # of numbers the variable's own axis if it varies, and one for what is missing
            spread = column.width if params.scale == "range" else column.sd
            if 0 < column.width < SMALLEST_SQUARED:
                raise ParameterError(
                    f"The values of {variable.name} differ by less than {SMALLEST_SQUARED:g}; "
                    "multiply all of them by a large number."
                )
            axes += number_axes(variable, params.scale, column.mean, spread, column.count, n)
    return Metric(axes=tuple(axes))
