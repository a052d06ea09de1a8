"""A run: what every task of a masking has to know, and how an engine is asked to do tasks.

It is handed to workers in memory and never written: it holds the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core._version import __version__
from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset, to_frame
from rwn_core.datasets.dataset_statistics import (
    ColumnStatistics,
    Counts,
    SurveyStatistics,
    has_levels,
    metric_of_sums,
    ordered_schema,
)
from rwn_core.datasets.stage import Stage, atomic_file
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.metric import Metric
from rwn_core.randomness import SecretKey

Task = dict[str, Any]
"""What is to be done: ``step``, ``number``, and for ranges of records ``start`` and ``stop``."""
Finished = Callable[[int], None]
"""Called with the number of newly finished tasks; an exception stops the work."""

Execute = Callable[[Sequence[Task], Finished], None]
"""Has all these tasks done, in any order, and returns when they are."""
STEP = "survey_result"
NUMBERS, SAMPLE, IDS = "numbers.json", "sample.parquet", "ids.npy"


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """Hold what the tasks of one masking share."""

    dataset: Dataset
    schema: Schema  # as given or guessed, before the levels of ordered variables are known
    params: Any  # a NeighborhoodMethod
    key: SecretKey = field(repr=False)
    stage: Stage
    release: Stage  # the folder that becomes the output when all its files are there
    rows: int  # records of a task that reads a range
    files: int  # files of the release
    sample: int  # records of the keyed random sample
    # leaves that records are dealt out to; 1 where only the sample gives values
    leaves: int = 1

    @property
    def names(self) -> list[str]:
        """The columns that are read: direct identifiers are not."""
        return [variable.name for variable in self.schema.released]

    @property
    def fingerprint(self) -> str:
        """Which run it is; the key is in it by its identity, which does not give it away."""
        what = {
            "files": list(zip(self.dataset.paths, self.dataset.rows, strict=True)),
            "stamps": self.dataset.stamps,
            "schema": self.schema.to_toml(),
            "setting": repr(self.params),
            "key": self.key.identity,
            "layout": [self.rows, self.files, self.sample, self.leaves],
            "version": __version__,
        }
        return hashlib.sha256(orjson.dumps(what)).hexdigest()

    @cached_property
    def survey_result(self) -> SurveyResult:
        """Results of the merged survey."""
        # Read what `save_survey_result` wrote, and make the metric of it.
        stage = self.stage
        schema = self.schema
        params = self.params
        content = orjson.loads(stage.path(STEP, NUMBERS).read_bytes())
        numbers = {name: ColumnStatistics(**each) for name, each in content.items()}
        counted = [variable.name for variable in schema.released if has_levels(variable)]
        levels = {
            name: read_counts(str(stage.path(STEP, levels_name(position))))
            for position, name in enumerate(counted)
        }
        schema = ordered_schema(Schema(variables=schema.released), levels)
        metric = metric_of_sums(
            schema,
            SurveyStatistics(n=self.dataset.n, numbers=numbers, levels=levels),
            scale=params.scale,
            encoding=params.encoding,
            weights=params.weights,
        )
        sample = pq.read_table(stage.path(STEP, SAMPLE))
        points = metric.coded(Microdata(to_frame(sample), schema))
        ids = np.load(stage.path(STEP, IDS), allow_pickle=False)
        return SurveyResult(schema=schema, metric=metric, ids=ids, sample=sample, points=points)

    def ranges(self, step: str) -> list[Task]:
        """A task for each range of records."""
        n, rows = self.dataset.n, self.rows
        return [
            {"step": step, "number": number, "start": start, "stop": min(start + rows, n)}
            for number, start in enumerate(range(0, n, rows))
        ]

    def numbered(self, step: str, count: int) -> list[Task]:
        """Tasks that have a number only."""
        return [{"step": step, "number": number} for number in range(count)]

    def __getstate__(self) -> dict[str, Any]:
        """Travel to a worker without what is merely remembered."""
        return {name: value for name, value in self.__dict__.items() if name != "survey_result"}


class Engine(Protocol):
    """Starts workers for a run, and ends them, whatever happens."""

    def __call__(
        self, run: Run, workers: int, address: str | None
    ) -> AbstractContextManager[Execute]:
        """Start as many workers, or use those of a cluster at an address."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurveyResult:
    """Hold what tasks need to know of the whole dataset."""

    schema: Schema  # of the released variables, with the levels of ordered ones
    metric: Metric
    ids: Integers  # shape (m,): the sampled records, ascending
    sample: Any  # a pyarrow table of their values
    points: Points  # shape (m, d)

    def microdata(self, table: pa.Table) -> Microdata:
        """Some records of the dataset, which were checked by the survey."""
        return Microdata(to_frame(table), self.schema)

    def to_points(self, microdata: Microdata) -> Points:
        """Some records as points of the metric."""
        return self.metric.coded(microdata)


def save_survey_result(
    stage: Stage, statistics: SurveyStatistics, ids: Integers, sample: pa.Table
) -> None:
    """Write what the survey has found, for the workers of later steps."""
    content = {name: asdict(each) for name, each in statistics.numbers.items()}
    with atomic_file(stage.path(STEP, NUMBERS)) as unfinished:
        unfinished.write_bytes(orjson.dumps(content))
    for position, counts in enumerate(statistics.levels.values()):
        with atomic_file(stage.path(STEP, levels_name(position))) as unfinished:
            write_counts(str(unfinished), counts)
    with atomic_file(stage.path(STEP, SAMPLE)) as unfinished:
        pq.write_table(sample, unfinished, compression="zstd", store_schema=True)
    with atomic_file(stage.path(STEP, IDS)) as unfinished, unfinished.open("wb") as stream:
        np.save(stream, ids)


def levels_name(position: int) -> str:
    """The file of a variable's levels; its name says nothing of the variable."""
    return f"levels-{position}.parquet"


def write_counts(path: str, counts: Counts) -> None:
    """Write how many records each level has."""
    table = pa.table({"level": pa.array(list(counts)), "records": pa.array(list(counts.values()))})
    pq.write_table(table, path)


def read_counts(path: str) -> dict[Any, int]:
    """Read what `write_counts` wrote."""
    table = pq.read_table(path)
    levels, records = (table.column(name).to_pylist() for name in ("level", "records"))
    return dict(zip(levels, records, strict=True))
