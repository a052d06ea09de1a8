"""The metric of a dataset, from the sums of its columns: the one that the whole table would have.

Centers and scales agree with those of a table in memory up to the last digits of a float64. They
cannot change which records are neighbors: distances closer than 1e-9 count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import level_text
from rwn_core.data.variable import Kind, Variable
from rwn_core.datasets.column_sums import ColumnStatistics, weighted_statistics
from rwn_core.errors import InputError, ParameterError
from rwn_core.neighbors.metric import (
    SMALLEST_SQUARED,
    Axis,
    Encoding,
    Metric,
    Scale,
    Weights,
    axes_of_counts,
    discrete_weights,
)

Counts = Mapping[Any, int]
"""Records of each level."""


def has_levels(variable: Variable) -> bool:
    """True if a variable is counted by levels instead of summed."""
    return variable.kind in (Kind.CATEGORICAL, Kind.ORDERED)


def level_counts(microdata: Microdata, name: str) -> Counts:
    """Records of each level that occurs."""
    codes, levels = microdata.codes(name)
    records = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
    return {level: count for level, count in zip(levels, records, strict=True) if count}


def ordered_schema(schema: Schema, levels: Mapping[str, Counts]) -> Schema:
    """The schema with the order of every ordered variable written down, as a table's gate does."""
    for variable in schema.released:
        if variable.kind is Kind.ORDERED and variable.levels is None:
            texts = tuple(level_text(level) for level in sorted(levels[variable.name]))
            schema = schema.replace_variable(variable.name, levels=texts)
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyStatistics:
    """Hold what is known of all columns of a dataset."""

    n: int  # number of records
    numbers: Mapping[str, ColumnStatistics]  # statistics of the columns of numbers, by name
    # records of each level, by the names of categorical and ordered variables
    levels: Mapping[str, Counts]

    @property
    def with_missing(self) -> list[str]:
        """The variables with a missing value."""
        return [name for name in (*self.numbers, *self.levels) if self.known(name) < self.n]

    def known(self, name: str) -> int:
        """Records with a value of a variable."""
        if name in self.levels:
            return sum(self.levels[name].values())
        return self.numbers[name].count


def metric_of_sums(
    schema: Schema,
    statistics: SurveyStatistics,
    *,
    scale: Scale = "sd",
    encoding: Encoding = "dummies",
    weights: Weights = "schema",
) -> Metric:
    """Make the metric of a dataset."""
    for variable in schema.released:
        if statistics.known(variable.name) == 0:
            raise InputError(
                f"Column {variable.name} has no values; remove it or set its role to identifier."
            )
    n, numbers, levels = statistics.n, statistics.numbers, statistics.levels
    if weights == "discrete":
        schema = schema.with_weights(discrete_weights(schema, n))
    used = [variable for variable in schema.released if variable.weight > 0]
    if not used:
        raise ParameterError(
            "The weights are 0 for every variable; give at least one a positive weight."
        )
    axes: list[Axis] = []
    for variable in used:
        if variable.kind is Kind.CATEGORICAL:
            axes += axes_of_counts(_numbered(levels[variable.name], n), variable, scale, encoding)
            continue
        column = numbers.get(variable.name) or _ranks(variable, levels[variable.name])
        axes += _number_axes(column, n, variable, scale)
    if not axes:
        raise ParameterError(
            "No variable with a positive weight varies, so there is no distance between records; "
            "give a varying variable a positive weight."
        )
    return Metric(axes=tuple(axes))


def _numbered(counts: Counts, n: int) -> Sequence[tuple[Any, int]]:
    """Levels in their order with their records, what is missing last."""
    known = [(level, counts[level]) for level in sorted(counts)]
    return [*known, (None, n - sum(counts.values()))]


def _ranks(variable: Variable, counts: Counts) -> ColumnStatistics:
    """Statistics of an ordered variable's level numbers."""
    by_text = {level_text(level): count for level, count in counts.items()}
    each = np.array([by_text.get(level, 0) for level in variable.levels or ()], dtype=np.int64)
    return weighted_statistics(np.arange(len(each), dtype=np.float64), each)


def _number_axes(column: ColumnStatistics, n: int, variable: Variable, scale: Scale) -> list[Axis]:
    """The axes of a variable of numbers: its own if it varies, and one for what is missing."""
    axes = []
    spread = column.greatest - column.least if scale == "range" else column.sd
    if 0 < column.greatest - column.least < SMALLEST_SQUARED:
        raise ParameterError(
            f"The values of {variable.name} differ by less than {SMALLEST_SQUARED:g}; multiply all "
            "of them by a large number."
        )
    if spread > 0:
        axes.append(Axis(variable=variable, center=column.mean, factor=variable.weight / spread))
    missing = n - column.count
    if missing:
        share = missing / n
        width = math.sqrt(missing * column.count / (n * (n - 1))) if scale == "sd" else 1.0
        factor = variable.weight / width
        axes.append(Axis(variable=variable, center=share, factor=factor, missing=True))
    return axes
