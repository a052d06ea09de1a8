"""Compares a dataset and its release without having either in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.question import Question
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_linkage import SampledLinkage, sampled_linkage
from rwn_core.datasets.dataset_regression import coefficients
from rwn_core.datasets.dataset_statistics import (
    Advance,
    DatasetStatistics,
    counted,
    first_pass,
    second_pass,
)
from rwn_core.datasets.metric_of_sums import SurveyStatistics, metric_of_sums
from rwn_core.errors import InputError, ParameterError
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

SAMPLE = 1000  # released rows that are linked


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Say what is compared.

    Parameters
    ----------
    schema : Schema, optional
        Of the original's columns; guessed from their types when left out.
    question : Question, optional
        The regression that is to be kept.
    sample : int
        Released rows that are linked to the original records; 0 for none.
    key : SecretKey, optional
        That of the release; without it the record of a released row is unknown.
    seed : int
        Which rows are sampled.
    """

    schema: Schema | None = None
    question: Question | None = None
    sample: int = SAMPLE
    key: SecretKey | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the sample."""
        if self.sample < 0:
            raise ParameterError("sample must be at least 0.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetAudit:
    """Hold what a dataset and its release have in common.

    Attributes
    ----------
    original, released : DatasetStatistics
    regression : tuple of mapping, or None
        Coefficients of the question in both, by name.
    linkage : SampledLinkage or None
    """

    original: DatasetStatistics
    released: DatasetStatistics
    regression: tuple[Mapping[str, float], Mapping[str, float]] | None
    linkage: SampledLinkage | None

    @property
    def correlation_change(self) -> float | None:
        """Mean absolute change of the correlations of all pairs; None where there are none."""
        first, second = np.triu_indices(len(self.original.numeric), 1)
        change = np.abs(self.released.correlation - self.original.correlation)[first, second]
        defined = ~np.isnan(change)
        return float(change[defined].mean()) if defined.any() else None

    @property
    def steps(self) -> dict[str, float]:
        """Return the largest change of each number's distribution function at its bins' ends."""
        apart = [_shares(side.bins).cumsum(axis=1) for side in (self.original, self.released)]
        largest = np.abs(apart[1] - apart[0]).max(axis=1, initial=0.0)
        return dict(zip(self.original.numeric, largest.tolist(), strict=True))

    @property
    def distances(self) -> dict[str, float]:
        """Return the total variation distance of each variable's values, from 0 to 1."""
        # Of numbers in bins of equal width; of categories level by level.
        found = {}
        for column, name in enumerate(self.original.numeric):
            found[name] = _variation(self.original.bins[column], self.released.bins[column])
        for name, before in self.original.levels.items():
            after = self.released.levels[name]
            known = [*before, *(level for level in after if level not in before)]
            one, two = (np.array([each.get(k, 0) for k in known]) for each in (before, after))
            found[name] = _variation(one, two)
        return found


def audit_dataset(
    original: str | Path,
    masked: str | Path,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> DatasetAudit:
    """Read what a dataset and its release have in common, file by file.

    Parameters
    ----------
    original, masked : str or Path
        Each a folder, a pattern or one file of Parquet. The release has the original's columns
        without direct identifiers, and its rows in any order.
    options : AuditOptions, optional
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises stops the work.

    Returns
    -------
    DatasetAudit

    Raises
    ------
    InputError, SchemaError, ParameterError
    NotApplicable
        The regression's variables have missing values.
    """
    options = options or AuditOptions()
    tables = Dataset.at(original), Dataset.at(masked)
    schema = options.schema or tables[0].guessed_schema()
    schema.require_names([name for name, _ in tables[0].columns])
    _check_columns(tables, schema, options.key)
    advance = counted((3 if options.sample else 2) * tables[0].n + 2 * tables[1].n, progress)
    known, before = first_pass(tables[0], schema, advance)
    _, after = first_pass(tables[1], known, advance)
    first, second = (
        second_pass(table, known, found, before.numbers, advance)
        for table, found in zip(tables, (before, after), strict=True)
    )
    regression = None
    if options.question is not None:
        regression = coefficients(first, options.question), coefficients(second, options.question)
    linkage = _linked(tables, known, before, options, advance) if options.sample else None
    return DatasetAudit(original=first, released=second, regression=regression, linkage=linkage)


def _check_columns(tables: Sequence[Dataset], schema: Schema, key: SecretKey | None) -> None:
    types = dict(tables[0].columns)
    wanted = [(variable.name, types[variable.name]) for variable in schema.released]
    if sorted(map(str, tables[1].columns)) != sorted(map(str, wanted)):
        raise InputError(
            "The release must have the columns of the original but for direct identifiers, in the "
            "same types; name these with --drop."
        )
    if key is not None and tables[0].n != tables[1].n:
        raise InputError("The release and the original have unlike numbers of records.")


def _linked(
    tables: tuple[Dataset, Dataset],
    schema: Schema,
    found: SurveyStatistics,
    options: AuditOptions,
    advance: Advance,
) -> SampledLinkage:
    weights = {variable.name: 1.0 for variable in schema.variables}
    metric = metric_of_sums(schema.with_weights(weights), found)
    n = tables[1].n
    chosen = np.random.default_rng(options.seed).choice(n, min(options.sample, n), replace=False)
    return sampled_linkage(tables, schema, metric, np.sort(chosen), options.key, advance)


def _variation(before: NDArray[Any], after: NDArray[Any]) -> float:
    return float(np.abs(_shares(before) - _shares(after)).sum() / 2)


def _shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return shares
