"""Results of the survey of a dataset: statistics of columns, levels, a random sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.column_sums import ColumnStatistics
from rwn_core.datasets.dataset import to_frame
from rwn_core.datasets.metric_of_sums import (
    Counts,
    SurveyStatistics,
    has_levels,
    metric_of_sums,
    ordered_schema,
)
from rwn_core.datasets.stage import Stage, atomic_file
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.metric import Metric

STEP = "survey_result"
NUMBERS, SAMPLE, IDS = "numbers.json", "sample.parquet", "ids.npy"


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


def load_survey_result(stage: Stage, schema: Schema, n: int, params: Any) -> SurveyResult:
    """Read what `save_survey_result` wrote, and make the metric of it."""
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
        SurveyStatistics(n=n, numbers=numbers, levels=levels),
        scale=params.scale,
        encoding=params.encoding,
        weights=params.weights,
    )
    sample = pq.read_table(stage.path(STEP, SAMPLE))
    points = metric.coded(Microdata(to_frame(sample), schema))
    ids = np.load(stage.path(STEP, IDS), allow_pickle=False)
    return SurveyResult(schema=schema, metric=metric, ids=ids, sample=sample, points=points)


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
