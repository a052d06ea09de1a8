"""A run is what every task of a masking has to know: the dataset, the setting, the key, the stage.

It is handed to workers in memory and never written: it holds the key.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from rwn_core._version import __version__
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.stage import Stage
from rwn_core.datasets.survey_result import SurveyResult, load_survey_result
from rwn_core.randomness import SecretKey

Task = dict[str, Any]
"""What is to be done: ``step``, ``number``, and for ranges of records ``start`` and ``stop``."""


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
        return load_survey_result(self.stage, self.schema, self.dataset.n, self.params)

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
