"""A run: what every task of a masking has to know, and how an engine is asked to do tasks.

It is handed to workers in memory and never written: it holds the key.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core._version import __version__
from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import level_text
from rwn_core.data.variable import LEVELS, Kind
from rwn_core.datasets.dataset import Dataset, to_frame
from rwn_core.datasets.dataset_statistics import Sums, merge_sums, metric_of_sums
from rwn_core.datasets.stage import Stage
from rwn_core.errors import InputError
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.metric import Metric
from rwn_core.randomness import SecretKey

Task = dict[str, Any]
"""What is to be done: ``step``, ``number``, and for ranges of records ``start`` and ``stop``."""
Finished = Callable[[int], None]
"""Called with the number of newly finished tasks; an exception stops the work."""

Execute = Callable[[Sequence[Task], Finished], None]
"""Has all these tasks done, in any order, and returns when they are."""
SURVEY = "survey"


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """The parts of one masking that its tasks share."""

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
        """Results of the survey, put together from its tasks in their order."""
        tasks = self.ranges(SURVEY)
        paths = [self.path(SURVEY, task["number"], "sums.npy") for task in tasks]
        sums: list[Sums] = [np.load(path, allow_pickle=False) for path in paths]
        counted = [variable.name for variable in self.schema.released if variable.kind in LEVELS]
        others = [name for name in self.names if name not in counted]
        levels = self._counted_levels(tasks, counted)
        schema = _with_written_orders(Schema(variables=self.schema.released), levels)
        numbers = dict(zip(others, merge_sums(sums), strict=True))
        metric = metric_of_sums(schema, self.dataset.n, numbers, levels, self.params)
        ids, sample = self._keyed_sample(tasks)
        points = metric.coded(Microdata(to_frame(sample), schema))
        return SurveyResult(schema=schema, metric=metric, ids=ids, sample=sample, points=points)

    def _counted_levels(
        self, tasks: Sequence[Task], counted: Sequence[str]
    ) -> dict[str, Counter[Any]]:
        """Return how often each level of the counted variables occurs, in all ranges together."""
        levels: dict[str, Counter[Any]] = {name: Counter() for name in counted}
        for position, name in enumerate(counted):
            for task in tasks:
                path = self.path(SURVEY, task["number"], f"levels-{position}.parquet")
                table = pq.read_table(path)
                pairs = (table.column(each).to_pylist() for each in ("level", "records"))
                levels[name].update(dict(zip(*pairs, strict=True)))
        return levels

    def _keyed_sample(self, tasks: Sequence[Task]) -> tuple[Integers, pa.RecordBatch]:
        """Return the records that come first in the keyed order, with their numbers, ascending."""
        paths = [self.path(SURVEY, task["number"], "sample.arrow") for task in tasks]
        files = (pa.ipc.open_file(path.read_bytes()) for path in paths)
        chosen = pa.concat_tables([file.read_all() for file in files])
        first, second, ids = (chosen.column(i).to_numpy() for i in (-3, -2, -1))
        rows = np.lexsort((second, first))[: self.sample]
        if len(rows) < self.sample:
            raise InputError("The sample is too small; run again with another key.")
        rows = rows[np.argsort(ids[rows])]
        return ids[rows], chosen.select(self.names).take(pa.array(rows)).combine_chunks()

    def path(self, step: str, number: int, name: str) -> Path:
        """Path of what a task has made; its name says nothing of a variable."""
        return self.stage.path(step, f"{number:06d}-{name}")

    def ranges(self, step: str) -> list[Task]:
        """A task for each range of records."""
        n = self.dataset.n
        rows = self.rows
        return [
            {"step": step, "number": number, "start": start, "stop": min(start + rows, n)}
            for number, start in enumerate(range(0, n, rows))
        ]

    def numbered(self, step: str, numbers: Iterable[int]) -> list[Task]:
        """Tasks that have a number only."""
        return [{"step": step, "number": number} for number in numbers]

    def answer(self, step: str, number: int) -> dict[str, Any]:
        """What a finished task answered."""
        answer = self.stage.answer(step, number)
        assert answer is not None
        return answer

    def __getstate__(self) -> dict[str, Any]:
        """Travel to a worker without what is merely remembered."""
        return {name: value for name, value in self.__dict__.items() if name != "survey_result"}


Engine = Callable[[Run, int, str | None], AbstractContextManager[Execute]]
"""Starts so many workers for a run, or uses those of a cluster at an address, and ends them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurveyResult:
    """The statistics of the whole dataset that tasks need."""

    schema: Schema  # of the released variables, with the levels of ordered ones
    metric: Metric
    ids: Integers  # shape (m,): the sampled records, ascending
    sample: Any  # a pyarrow table of their values
    points: Points  # shape (m, d)

    def microdata(self, table: pa.Table) -> Microdata:
        """Some records of the dataset, which were checked by the survey."""
        return Microdata(to_frame(table), self.schema)


def _with_written_orders(schema: Schema, levels: Mapping[str, Counter[Any]]) -> Schema:
    """Write down the order of every ordered variable, as a table's gate does."""
    for variable in schema.released:
        if variable.kind is Kind.ORDERED and variable.levels is None:
            texts = tuple(level_text(level) for level in sorted(levels[variable.name]))
            schema = schema.replace_variable(variable.name, levels=texts)
    return schema
