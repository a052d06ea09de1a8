"""Means, spreads and extremes of columns from sums of blocks, the same however rows are dealt out.

A block is `BLOCK` records that follow each other in the dataset. Its sums depend on its records
alone, and the blocks are added up exactly and rounded once: not a bit of the result depends on
files, tasks or workers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats, Integers

BLOCK = 1024  # records that are summed up at once; a task begins at a multiple of it
AT_ONCE = 16  # blocks

Sums = Floats
"""Of each block and column: count, sum, squares about the block's mean, least, greatest value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """Say what a metric needs to know of a column of numbers."""

    count: int  # records with a value
    mean: float  # 0 where there are none
    sd: float  # divisor count - 1; 0 for fewer than two, and exactly 0 where all are equal
    least: float
    greatest: float


def block_sums(values: Floats) -> Sums:
    """Sum up the blocks of some columns."""
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
    return [_merged(sums[:, :, column]) for column in range(sums.shape[2])]


def weighted_statistics(values: Floats, counts: Integers) -> ColumnStatistics:
    """Statistics of a column that has some values so many times."""
    count = int(counts.sum())
    mean = math.fsum((values * counts).tolist()) / max(count, 1)
    squares = math.fsum((counts * (values - mean) ** 2).tolist())
    occurring = values[counts > 0]
    return _statistics(count, mean, squares, occurring)


def _merged(sums: Floats) -> ColumnStatistics:
    sums = sums[:, sums[0] > 0]
    counts, totals, within = sums[0], sums[1], sums[2]
    count = int(counts.sum())
    mean = math.fsum(totals.tolist()) / max(count, 1)
    apart = totals / counts - mean
    squares = math.fsum([*within.tolist(), *(counts * apart * apart).tolist()])
    return _statistics(count, mean, squares, sums[3:].ravel())


def _statistics(count: int, mean: float, squares: float, extremes: Floats) -> ColumnStatistics:
    least, greatest = (
        (float(extremes.min()), float(extremes.max())) if len(extremes) else (0.0, 0.0)
    )
    sd = math.sqrt(squares / (count - 1)) if count > 1 and least < greatest else 0.0
    return ColumnStatistics(count=count, mean=mean, sd=sd, least=least, greatest=greatest)
