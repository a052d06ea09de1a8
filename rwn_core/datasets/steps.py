"""The tasks of a run, each done once, and STRATEGIES: the steps that mask a dataset.

The first step is the survey: it checks the values, sums up the columns and samples the records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets import donors, release_order, spatial_parts
from rwn_core.datasets.dataset import check_rows, to_frame
from rwn_core.datasets.dataset_statistics import (
    block_sums,
    counted,
    has_levels,
    level_counts,
)
from rwn_core.datasets.run import SURVEY, Execute, Run, Task
from rwn_core.datasets.spatial_parts import INDEX
from rwn_core.datasets.stage import atomic_file
from rwn_core.datasets.staged_arrays import DEAL, give_back, load, save, write_batches
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.parallel.threads import work
from rwn_core.randomness import SAMPLE_STREAM

_SURE = 12  # standard deviations by which more candidates are kept than the sample needs


def survey_rows(run: Run, task: Task) -> dict[str, Any]:
    """Check, sum up and sample one range of records; see `Run.survey_result`."""
    start, number = task["start"], task["number"]
    table = run.dataset.read(start, task["stop"], run.names)
    frame = to_frame(table)
    schema = Schema(variables=run.schema.released)
    check_rows(frame, schema, start)
    microdata = Microdata(frame, with_levels(frame, schema))
    numbers = [v.name for v in schema.variables if not has_levels(v)]
    with (
        atomic_file(run.surveyed(number, "sums.npy")) as unfinished,
        unfinished.open("wb") as stream,
    ):
        np.save(stream, block_sums(microdata.matrix(numbers)))
    coded = [v.name for v in schema.variables if has_levels(v)]
    for position, name in enumerate(coded):
        counts = level_counts(microdata, name)
        table_of = {"level": pa.array(list(counts)), "records": pa.array(list(counts.values()))}
        with atomic_file(run.surveyed(number, f"levels-{position}.parquet")) as unfinished:
            pq.write_table(pa.table(table_of), unfinished)
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
    with atomic_file(run.surveyed(number, "sample.arrow")) as unfinished:
        write_batches(unfinished, chosen, [len(chosen)])
    return {}


STEPS: Mapping[str, Callable[[Run, Task], dict[str, Any]]] = {
    SURVEY: survey_rows,
    donors.SAMPLE: donors.mask_rows,
    DEAL: spatial_parts.deal_records,
    spatial_parts.INDEX: spatial_parts.index_leaf,
    spatial_parts.STEP: spatial_parts.join_leaves,
    donors.EXACT: donors.mask_leaf,
    donors.LIST: donors.list_leaf,
    donors.STATE: donors.weigh_all,
    donors.SOFT: donors.mask_soft_leaf,
    release_order.STEP: release_order.order_file,
}


def perform(run: Run, task: Task) -> dict[str, Any]:
    """Do a task, unless it is done."""
    step, number = task["step"], task["number"]
    answer = run.stage.answer(step, number)
    if answer is None:
        # tasks go side by side, each in one thread; what it mapped is given back as it goes on
        with work(threads=1, progress=lambda share: give_back()):
            answer = STEPS[step](run, task)
        run.stage.finish(step, number, answer)
    return answer


Follow = Callable[[float], Callable[[int], None]]
"""Takes the weight of a task of a step; returns a progress callback for finished tasks."""


def follow_progress(total: float) -> Follow:
    """Add up what was done of the whole."""
    advance = counted(total)
    return lambda weight: lambda count: advance(weight * count)


def _exact(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """All records are candidates: leaf by leaf."""
    ranges = len(run.ranges(DEAL))
    execute(run.ranges(DEAL), follow(1))
    # Add up the records of each leaf, and put corners together; how many leaves there are.
    corners = [load(run, DEAL, f"{number:06d}-corners") for number in range(ranges)]
    low, high = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
    save(run, INDEX, "corners", np.stack([low, high]))
    ends = [load(run, DEAL, f"{number:06d}-ends") for number in range(ranges)]
    counts = np.sum([np.diff(each) for each in ends], axis=0)
    save(run, INDEX, "counts", counts)
    count = len(counts)
    share = ranges / count  # leaves are about as many as ranges
    indexing = run.numbered(spatial_parts.INDEX, count)
    execute([{**task, "ranges": ranges} for task in indexing], follow(1 * share))
    execute(run.numbered(spatial_parts.STEP, len(spatial_parts.JOINS)), follow(0))
    if not run.params.ball.kernel.is_even:
        execute(run.numbered(donors.LIST, count), follow(4 * share))
        execute(run.numbered(donors.STATE, 1), follow(0))
        masking = run.numbered(donors.SOFT, count)
        execute(masking, follow(share))
        return masking
    masking = run.numbered(donors.EXACT, count)
    execute(masking, follow(5 * share))
    return masking


def _sample(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """Method 1: range by range."""
    masking = run.ranges(donors.SAMPLE)
    execute(masking, follow(4))
    return masking


STRATEGIES: Mapping[str, tuple[int, Callable[[Run, Execute, Follow], list[Task]]]] = (
    MappingProxyType({"exact": (7, _exact), "sample": (4, _sample)})
)
"""The work on a range of records, where the survey of one is 1, and what does the steps.

It returns the tasks of the last step, which answer how many records have empty neighborhoods, and
how many fall back to k.
"""
