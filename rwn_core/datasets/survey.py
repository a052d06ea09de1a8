"""The first step over a dataset: checks its values, sums up its columns, samples its records."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import check_rows, to_frame
from rwn_core.datasets.dataset_statistics import (
    Sums,
    SurveyStatistics,
    block_sums,
    has_levels,
    level_counts,
    merge_sums,
)
from rwn_core.datasets.run import (
    Run,
    Task,
    levels_name,
    read_counts,
    save_survey_result,
    write_counts,
)
from rwn_core.datasets.stage import Stage, atomic_file
from rwn_core.datasets.staged_arrays import read_all, write_batches
from rwn_core.errors import InputError
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import SAMPLE_STREAM

STEP = "survey"
_SURE = 12  # standard deviations by which more candidates are kept than the sample needs


def survey_rows(run: Run, task: Task) -> dict[str, Any]:
    """Check, sum up and sample one range of records; see `merge_survey`."""
    start, number = task["start"], task["number"]
    table = run.dataset.read(start, task["stop"], run.names)
    frame = to_frame(table)
    schema = Schema(variables=run.schema.released)
    check_rows(frame, schema, start)
    microdata = Microdata(frame, with_levels(frame, schema))
    numbers = [v.name for v in schema.variables if not has_levels(v)]
    with (
        atomic_file(_path(run.stage, number, "sums.npy")) as unfinished,
        unfinished.open("wb") as stream,
    ):
        np.save(stream, block_sums(microdata.matrix(numbers)))
    counted = [v.name for v in schema.variables if has_levels(v)]
    for position, name in enumerate(counted):
        with atomic_file(_path(run.stage, number, levels_name(position))) as unfinished:
            write_counts(str(unfinished), level_counts(microdata, name))
    records = np.arange(start, task["stop"], dtype=np.int64)
    # Which of some records may belong to the sample, and what it is ordered by.
    # records: shape (r,); rows: (c,); draws: (2, c)
    # The sample is the m records that come first in the keyed order of `random_order`: the same as
    # that of a table in memory.
    draws = two_uniforms(run.key, records, SAMPLE_STREAM)
    # fewer than the sample's records are below once in 10^30 runs
    most = (run.sample + _SURE * sqrt(run.sample) + 50) / run.dataset.n
    rows = np.flatnonzero(draws[0] <= most)
    draws = draws[:, rows]
    chosen = table.take(pa.array(rows))
    for values in (*draws, records[rows]):
        chosen = chosen.append_column("", pa.array(values))
    with atomic_file(_path(run.stage, number, "sample.arrow")) as unfinished:
        write_batches(unfinished, chosen, [len(chosen)])
    return {}


def merge_survey(run: Run) -> None:
    """Put together what the tasks of the survey found, in their order."""
    tasks = run.ranges(STEP)
    numbers = [v.name for v in run.schema.released if not has_levels(v)]
    sums: list[Sums] = [
        np.load(_path(run.stage, task["number"], "sums.npy"), allow_pickle=False) for task in tasks
    ]
    statistics = dict(zip(numbers, merge_sums(sums), strict=True))
    counted = [v.name for v in run.schema.released if has_levels(v)]
    levels = {}
    for position, name in enumerate(counted):
        total: Counter[Any] = Counter()
        for task in tasks:
            file = _path(run.stage, task["number"], levels_name(position))
            total.update(read_counts(str(file)))
        levels[name] = dict(total)
    paths = [_path(run.stage, task["number"], "sample.arrow") for task in tasks]
    chosen = pa.concat_tables([read_all(path) for path in paths])
    first, second, ids = (chosen.column(i).to_numpy() for i in (-3, -2, -1))
    rows = np.lexsort((second, first))[: run.sample]
    if len(rows) < run.sample:
        raise InputError("The sample is too small; run again with another key.")
    rows = rows[np.argsort(ids[rows])]
    sample = chosen.select(run.names).take(pa.array(rows))
    found = SurveyStatistics(n=run.dataset.n, numbers=statistics, levels=levels)
    save_survey_result(run.stage, found, ids[rows], sample)


def _path(stage: Stage, number: int, name: str) -> Any:
    return stage.path(STEP, f"{number:06d}-{name}")
