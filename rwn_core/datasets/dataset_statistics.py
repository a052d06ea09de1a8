"""Exact sums of a dataset in one pass over its files, with one batch of records in memory.

Sums are added up in the order of the records, so that files and their row groups change no bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.column_sums import block_sums, merge_sums
from rwn_core.datasets.dataset import Dataset, check_rows, to_frame
from rwn_core.datasets.metric_of_sums import (
    SurveyStatistics,
    has_levels,
    level_counts,
    ordered_schema,
)
from rwn_core.parallel.threads import Progress

Advance = Callable[[float], None]
"""Called with the number of further records read; an exception stops the work."""


def counted(total: int, progress: Progress | None) -> Advance:
    """Report the share done, given what is done in steps."""
    done = 0.0

    def advance(records: float) -> None:
        nonlocal done
        done += records
        if progress is not None:
            progress(min(1.0, done / total))

    return advance


def exact_sums(
    dataset: Dataset, schema: Schema, advance: Advance
) -> tuple[Schema, SurveyStatistics]:
    """Sum up columns and count levels; the schema gets the levels of ordered variables."""
    released = Schema(variables=schema.released)
    numbers = [v.name for v in released.variables if not has_levels(v)]
    counted = [v.name for v in released.variables if has_levels(v)]
    sums, levels = [], {name: Counter[Any]() for name in counted}
    for start, table in dataset.batches(released):
        frame = to_frame(table)
        check_rows(frame, released, start)
        microdata = Microdata(frame, with_levels(frame, released))
        sums.append(block_sums(microdata.matrix(numbers)))
        for name in counted:
            levels[name].update(level_counts(microdata, name))
        advance(len(table))
    found = SurveyStatistics(
        n=dataset.n,
        numbers=dict(zip(numbers, merge_sums(sums), strict=True)),
        levels={name: dict(each) for name, each in levels.items()},
    )
    return ordered_schema(released, found.levels), found
